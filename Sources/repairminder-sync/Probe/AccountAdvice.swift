/// What to do when the upstream accepts the token and refuses the account.
enum AccountAdvice {
    /// Only the upstream can end it.
    static let refused =
        "do what the answer asks for, or ask the upstream about the account; nothing is lost meanwhile: changes wait, "
        + "and are sent once it accepts them"
}

/// What a caller that the kernel names may do over TCP without the token.
package enum TokenlessTCP: String, CaseIterable, Sendable {
    case reads, all, never
}

/// The program's version, as shown by `--version`, the status and the User-Agent.
///
/// In a file of its own because a release changes this line only.
enum ProgramVersion {
    static let text = "0.2.0"
    /// What this program calls itself to servers.
    static let userAgent = "repairminder-sync/\(text)"
}

/// The version of this program, as `--version`, the status and the User-Agent report it.
enum ProgramVersion {
    static let text = "0.2.0"
}

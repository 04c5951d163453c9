/// The version of this program, as `--version`, the status and the User-Agent tell it.
enum ProgramVersion {
    static let text = "0.1.0"
}

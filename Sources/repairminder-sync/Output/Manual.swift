import Foundation

/// The documentation, which messages name by its paths in the sources: `docs/guides/operating.md`.
enum Manual {
    /// Beside the program, as the package and the tarball install it.
    private static let installed: String? = {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return nil
        }
        let folder = URL(filePath: program).deletingLastPathComponent().deletingLastPathComponent()
        return folder.appending(path: "share/doc/repairminder-sync").path
    }()

    /// The text with the paths of the installed pages in place of those in the sources; as it is where none are installed.
    static func located(_ text: String, in folder: String? = installed) -> String {
        guard let folder, text.contains("docs/") else { return text }
        return text.replacing(#/\bdocs\/([a-z\/-]+\.md)/#) { page in
            let path = "\(folder)/\(page.1)"
            return FileManager.default.fileExists(atPath: path) ? path : String(page.0)
        }
    }
}

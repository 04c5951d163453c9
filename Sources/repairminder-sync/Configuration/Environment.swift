import Foundation

/// What a process finds around it: environment, files, and where it was started from.
struct Environment: Sendable {
    /// The environment variables.
    var variables: [String: String]
    /// The path of the running program, links resolved.
    var executable: String
    var workingDirectory: String
    /// Where the system's administrator keeps configuration and schemas.
    var systemFolder: String

    static func ofThisProcess() -> Environment {
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return Environment(
            variables: ProcessInfo.processInfo.environment, executable: link ?? CommandLine.arguments[0],
            workingDirectory: FileManager.default.currentDirectoryPath, systemFolder: "/etc/repairminder-sync")
    }

    var home: String? { variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } }

    /// A directory that systemd made for the service; of several (systemd.exec(5)) the first.
    func systemdDirectory(_ variable: String) -> String? {
        variables[variable]?.split(separator: ":").first.map(String.init)
    }

    /// `~` is the user's home; a relative path starts from `folder`, or from the working directory.
    func absolute(_ path: String, from folder: String? = nil) -> String {
        if path.hasPrefix("/") { return path }
        if path == "~" || path.hasPrefix("~/"), let home { return home + path.dropFirst() }
        let start = absolute(folder ?? workingDirectory, from: "/")
        return URL(fileURLWithPath: start + "/" + path).standardizedFileURL.path
    }

    func folder(of path: String) -> String {
        URL(fileURLWithPath: absolute(path)).deletingLastPathComponent().path
    }

    // MARK: Files

    func isFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }

    func isEmpty(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int == 0
    }

    func text(of path: String) throws(ConfigurationError) -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            let reason = isFile(path) ? "cannot be read; check its permissions and that it is UTF-8" : "is not there"
            throw ConfigurationError(place: path, problem: "the file \(reason)")
        }
    }

    /// Names without their folder; none when it cannot be listed.
    func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}

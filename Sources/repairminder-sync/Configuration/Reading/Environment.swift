import Foundation
import Glibc
import SystemCalls

/// The environment of a process: its variables, files and working directory.
struct Environment: Sendable {
    /// The environment variables.
    var variables: [String: String]
    /// The path of the running program with links resolved.
    var executable: String
    var workingDirectory: String
    /// The directory of the system-wide configuration and schemas.
    var systemFolder: String
    /// The path of a Unix socket that the service manager opened for this process.
    var inheritedSocket: String?

    static func ofThisProcess() -> Environment {
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return Environment(
            variables: ProcessInfo.processInfo.environment, executable: link ?? CommandLine.arguments[0],
            workingDirectory: FileManager.default.currentDirectoryPath, systemFolder: "/etc/repairminder-sync")
    }

    var home: String? { variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } }

    /// The directory that systemd created for the service; the first if there are several (systemd.exec(5)).
    func systemdDirectory(_ variable: String) -> String? {
        variables[variable]?.split(separator: ":").first.map(String.init)
    }

    /// Expands `~` to the user's home; a relative path starts from `folder`, by default the working directory.
    func absolute(_ path: String, from folder: String? = nil) -> String {
        if path.hasPrefix("/") { return path }
        if path == "~" || path.hasPrefix("~/"), let home { return home + path.dropFirst() }
        let start = absolute(folder ?? workingDirectory, from: "/")
        return URL(fileURLWithPath: start + "/" + path).standardizedFileURL.path
    }

    func folder(of path: String) -> String { URL(fileURLWithPath: absolute(path)).deletingLastPathComponent().path }

    // MARK: Files

    func isFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }

    /// Whether there is anything by this name, even a link to nothing, except an empty file.
    func hasContent(_ path: String) -> Bool {
        guard stat(ofLink: path) != nil else { return ![ENOENT, ENOTDIR].contains(errno) }
        guard let status = stat(of: path) else { return true }
        return !status.isFile || status.st_size > 0
    }

    /// The text of a configuration or schema file, which has at most 8 MiB.
    func text(of path: String) throws(ConfigurationError) -> String {
        if let status = stat(of: path), status.isFile, status.st_size > 8 << 20 {
            throw ConfigurationError(
                place: path, problem: "the file has more than 8 MiB; check that it is the right one")
        }
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ConfigurationError(place: path, problem: Self.problem(of: path))
        }
    }

    /// Why a file cannot be read.
    private static func problem(of path: String) -> String {
        guard let status = stat(of: path) else {
            return [ENOENT, ENOTDIR].contains(errno)
                ? "the file does not exist" : "the file cannot be read; check the permissions of its directory"
        }
        return status.isFolder
            ? "this is a directory; name a file" : "the file cannot be read; check its permissions and that it is UTF-8"
    }

    /// The names of a directory's entries; empty if there is no such directory. Throws when it cannot be listed.
    func listing(of folder: String) throws(ConfigurationError) -> [String] {
        if stat(of: folder) == nil, [ENOENT, ENOTDIR].contains(errno) { return [] }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw ConfigurationError(
                place: folder, problem: "cannot be listed; check that it is a directory, and its permissions")
        }
        return names
    }

    /// The names of a directory's entries; empty when it cannot be listed.
    func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}

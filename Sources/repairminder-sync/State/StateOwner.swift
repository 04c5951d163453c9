import Foundation
import Glibc

/// The owner of the state directory, who must be able to read every file in it.
struct StateOwner {
    private let user: uid_t
    private let group: gid_t

    /// Throws when this process runs neither as the directory's owner nor as root.
    init(folder: String) throws(StateError) {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw StateError(message: "\(folder) cannot be read; check state_dir")
        }
        user = status.st_uid
        group = status.st_gid
        guard user == geteuid() || geteuid() == 0 else {
            let name = getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
            throw StateError(
                message: "\(folder) belongs to \(name), and its daemon could not read what this command writes; "
                    + "run this command as \(name)",
                isOwnedByAnother: true)
        }
    }

    /// Changes the owner of every entry in a directory, of links themselves too; not recursive.
    func ownEverything(in folder: String) throws(StateError) {
        guard user != geteuid() else { return }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where lchown("\(folder)/\(name)", user, group) != 0 {
            throw StateError(
                message: "\(folder)/\(name) cannot be given to the daemon's user; run this command as that user")
        }
    }

    /// Changes the owner of a file to the directory's owner.
    func own(_ file: String) throws(StateError) {
        guard user != geteuid(), chown(file, user, group) != 0 else { return }
        throw StateError(message: "\(file) cannot be given to the daemon's user; run this command as that user")
    }
}

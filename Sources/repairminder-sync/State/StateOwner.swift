import Foundation
import Glibc

/// Whose the state folder is: what is put into it must be the daemon's to read.
struct StateOwner {
    private let user: uid_t
    private let group: gid_t

    /// Throws when the folder is neither ours nor, by being root, ours to give away in.
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

    /// Gives all that lies directly in a folder to its owner, links themselves included.
    func ownEverything(in folder: String) throws(StateError) {
        guard user != geteuid() else { return }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where lchown("\(folder)/\(name)", user, group) != 0 {
            throw StateError(
                message: "\(folder)/\(name) cannot be given to the daemon's user; run this command as that user")
        }
    }

    /// Gives a file to the folder's owner.
    func own(_ file: String) throws(StateError) {
        guard user != geteuid(), chown(file, user, group) != 0 else { return }
        throw StateError(message: "\(file) cannot be given to the daemon's user; run this command as that user")
    }
}

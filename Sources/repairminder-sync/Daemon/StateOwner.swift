import Foundation
import Glibc

/// Whose the state folder is: what is put into it must be the daemon's to read.
struct StateOwner {
    private let user: uid_t
    private let group: gid_t

    /// Throws when the folder is neither ours nor, by being root, ours to give away in.
    init(folder: String) throws(CommandFailure) {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw CommandFailure(.temporaryFailure, "\(folder) cannot be looked at; check state_dir")
        }
        user = status.st_uid
        group = status.st_gid
        guard user == geteuid() || geteuid() == 0 else {
            let name = getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
            throw CommandFailure(
                .notAllowed,
                "\(folder) belongs to \(name), whose daemon could not read what this writes; run this as \(name)"
            )
        }
    }

    /// Gives all that lies directly in a folder to its owner, links themselves included.
    func ownEverything(in folder: String) throws(CommandFailure) {
        guard user != geteuid() else { return }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where lchown("\(folder)/\(name)", user, group) != 0 {
            throw CommandFailure(
                .temporaryFailure, "\(folder)/\(name) cannot be given to the daemon's user; run this as that user")
        }
    }

    /// Gives a file to the folder's owner.
    func own(_ file: String) throws(CommandFailure) {
        guard user != geteuid(), chown(file, user, group) != 0 else { return }
        throw CommandFailure(.temporaryFailure, "\(file) cannot be given to the daemon's user; run this as that user")
    }
}

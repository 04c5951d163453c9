import Glibc
import SystemCalls

/// A program that the configuration names, which runs with the daemon's rights, or a file that names such programs.
struct ProgramFile {
    let path: String
    /// What it is called in messages.
    var kind = "program"
    /// Who may put files in a folder with the sticky bit on the path, besides the folder's owner.
    var trusted: Set<uid_t> = [0, geteuid()]

    /// Why the daemon must not run it: every user of the machine could change it, or put another in its place. Nil when
    /// nothing shows that. A program that is missing is reported when it is to run.
    var refusal: String? { PathSteps(to: path).steps.lazy.compactMap(refusal).first }

    /// Which group could change it or put another in its place; nil if none could. Root's group and one with the number of the
    /// owner, which is nearly always that user's own, are not named.
    var groupWarning: String? {
        for step in PathSteps(to: path).steps {
            guard let status = step.status, !status.isLink, status.st_mode & S_IWGRP != 0, status.st_gid != 0,
                status.st_gid != status.st_uid, !(status.isFolder && status.isSticky)
            else { continue }
            let group = getgrgid(status.st_gid).map { String(cString: $0.pointee.gr_name) } ?? "\(status.st_gid)"
            return
                "members of the group \(group) can change \(status.isFolder ? "files in " : "")\(step.path), and so the "
                + "\(kind)\(status.isFolder ? " \(path)" : ""), which says what the daemon runs and where it sends tokens; unless they "
                + "are to do that, run chmod g-w \(step.path)"
        }
        return nil
    }

    private func refusal(_ step: PathSteps.Step) -> String? {
        if !isOwnersOnly(step) {
            return
                "other users can put another \(kind) in place of \(step.path); move \(path) to a folder that only root or the"
                + " daemon's user can change"
        }
        guard let status = step.status, !status.isLink, status.isOpenToAll else { return nil }
        guard status.isFolder else {
            return "other users can change the \(kind) \(step.path); run chmod o-w \(step.path)"
        }
        if status.isSticky { return nil }
        return "other users can change files in \(step.path), and so the \(kind) \(path); run chmod o-w \(step.path)"
    }

    /// In a folder with the sticky bit, such as /tmp, every user can make a file, and only its owner replaces it.
    private func isOwnersOnly(_ step: PathSteps.Step) -> Bool {
        guard let folder = step.folder, folder.isOpenToAll, folder.isSticky else { return true }
        guard let owner = step.status?.st_uid else { return false }
        return trusted.contains(owner) || owner == folder.st_uid
    }
}

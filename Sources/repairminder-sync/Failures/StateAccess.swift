import Glibc
import SystemCalls

/// Who may use the files in the state directory: its owner, and root, who becomes the owner first.
enum StateAccess {
    /// Throws for any other user. Does nothing if there is no such directory.
    static func require(_ configuration: Configuration) throws(CommandFailure) {
        if let owner = closed(configuration.stateDirectory, to: geteuid()) {
            throw refusal(
                configuration.stateDirectory, owner: owner,
                group: GroupAdvice.missing(configuration.listen.group))
        }
    }

    /// Who owns a directory that `user` may not use; nil if `user` may use it, or if there is none.
    static func closed(_ folder: String, to user: uid_t) -> String? {
        // Others cannot enter a service's directory, and do not even see whose it is.
        guard let status = stat(of: folder) else { return errno == EACCES ? "the daemon's user" : nil }
        let isOpen = user == 0 || user == status.st_uid || !status.isFolder
        return isOpen ? nil : StateOwner.name(of: status.st_uid)
    }

    /// `group` is how to join the group that may call the daemon; nil for a member.
    static func refusal(_ folder: String, owner: String, group: String?) -> CommandFailure {
        let others = group.map { "\n  for the commands that call the daemon: \($0)" } ?? ""
        let users = owner == "root" ? "root" : "root and \(owner)"
        return CommandFailure(
            .notAllowed, "only \(users) may use the files in \(folder): run this with sudo\(others)")
    }
}

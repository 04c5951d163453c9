import Glibc
import SystemCalls

/// How a user who may not call the daemon gets permission.
enum GroupAdvice {
    /// Why this user cannot open a socket; nil if nothing forbids it.
    static func refusal(of socket: String) -> String? {
        guard access(socket, W_OK) != 0, errno == EACCES else { return nil }
        // The folder may hide it too.
        guard let status = stat(of: socket) else {
            return text(user: user, group: standardGroup, isMember: isMember(of: standardGroup))
        }
        guard status.st_gid != 0, status.st_mode & S_IWGRP != 0, let entry = getgrgid(status.st_gid) else {
            return "only root may use the daemon's socket \(socket): use sudo"
        }
        let group = String(cString: entry.pointee.gr_name)
        return text(user: user, group: group, isMember: isMember(of: group))
    }

    /// For a caller whom the daemon does not know.
    static var ofUnknownCaller: String { unknownCaller(of: standardGroup) }

    /// The same for any group. If it does not exist, only sudo helps.
    static func unknownCaller(of group: String) -> String {
        getgrnam(group) == nil ? "use sudo" : text(user: user, group: group, isMember: isMember(of: group))
    }

    /// How to join a group; nil for a member, and where there is no such group.
    static func missing(_ group: String) -> String? {
        getgrnam(group) == nil || isMember(of: group) ? nil : text(user: user, group: group, isMember: false)
    }

    /// `isMember`: the user is in the group, but this session began before that.
    static func text(user: String, group: String, isMember: Bool) -> String {
        isMember
            ? "you are in the group \(group), but not in this session: log in again; or use sudo"
            : "you are not in the group \(group): sudo usermod -aG \(group) \(user), then log in again; or use sudo"
    }

    private static let standardGroup = Configuration.Listen.standardGroup

    private static var user: String { StateOwner.name(of: geteuid()) }

    private static func isMember(of name: String) -> Bool {
        guard let entry = getgrnam(name), var member = entry.pointee.gr_mem else { return false }
        while let text = member.pointee {
            if String(cString: text) == user { return true }
            member += 1
        }
        return false
    }
}

import CLinux
import Foundation
import Glibc
import LocalAPIServer
import SystemCalls

/// The user that owns the state directory.
///
/// A command that root runs becomes this user before it touches a file there: a user who controls the daemon could
/// otherwise plant links in the directory, and have root follow them. Who can put another directory in its place would have
/// root become any user, so `requireOwnPath` comes first.
struct StateOwner {
    private let folder: String
    private let user: uid_t
    private let group: gid_t
    /// Distinguishes the directory from one that takes its name later.
    private let identity: Identity

    private struct Identity: Equatable {
        var device: dev_t
        var inode: ino_t
    }

    /// Nil when there is no such directory.
    init?(folder: String) {
        guard let status = stat(of: folder), status.isFolder else { return nil }
        self.folder = folder
        user = status.st_uid
        group = Self.group(of: status)
        identity = Identity(device: status.st_dev, inode: status.st_ino)
    }

    /// The directory's group if the owner is a member, else the owner's own one: files that the owner leads a command to must
    /// not be read or made with a right of others. `chown USER DIRECTORY` leaves the group of root, of another maker, or of the
    /// directory above.
    static func group(of directory: stat) -> gid_t {
        let (user, group) = (directory.st_uid, directory.st_gid)
        guard user != 0 else { return group }
        // A dynamic user has the group of its unit (`Group=`), which the user database does not say.
        guard !DaemonUser.dynamic.contains(user), let own = getpwuid(user)?.pointee.pw_gid else {
            return group == 0 ? nogroup : group
        }
        return group != 0 && GroupMembers.isListed(user, in: group) ? group : own
    }

    private static let nogroup: gid_t = 65_534

    /// Throws when root runs this, and someone besides root and `owner` could put another directory at the path.
    ///
    /// `owner` is nil when there is no such directory: then only root may decide what will be there.
    static func requireOwnPath(of folder: String, _ owner: StateOwner?) throws(StateError) {
        guard geteuid() == 0 else { return }
        if owner == nil { try requireMissing(folder) }
        guard let found = stranger(on: PathSteps(to: folder).steps, owner: owner?.user ?? 0) else { return }
        throw StateError(
            message: "\(found.name) could put another directory at state_dir \(folder), by way of \(found.path), and "
                + "root would work there; run this as the daemon's user, or let state_dir be below directories that only "
                + "root can change",
            isOpenToOthers: true)
    }

    /// Throws when there may be a directory after all. A user can mount a file system that hides it from root (FUSE), and show it
    /// again to a command that has stayed root.
    private static func requireMissing(_ folder: String) throws(StateError) {
        let reason: String
        if let status = stat(of: folder) {
            guard status.isFolder else { return }
            reason = "it was not there just before"
        } else {
            guard ![ENOENT, ENOTDIR].contains(errno) else { return }
            reason = "\(SystemError.last)"
        }
        throw StateError(
            message: "root cannot see whose state_dir \(folder) is (\(reason)); run this as the daemon's user",
            isOwnedByAnother: true)
    }

    /// The first who, besides root and `owner`, decides where a path leads, and by which step; nil if there is none.
    ///
    /// The owner of `/` decides where every path leads. In a user namespace that can be root outside. The kernel shows all users
    /// outside as that one, and root inside can become none of them.
    static func stranger(on steps: [PathSteps.Step], owner: uid_t) -> (name: String, path: String)? {
        let owners: Set<uid_t> = [0, owner, steps.first?.status?.st_uid ?? 0]
        for step in steps {
            guard let other = step.status.map({ stranger(in: $0, owners) }) ?? maker(in: step.folder) else { continue }
            return (other, step.path)
        }
        return nil
    }

    /// Whether `requireOwnPath` does not throw.
    static func isOwnPath(of folder: String, _ owner: StateOwner?) -> Bool {
        do {
            try requireOwnPath(of: folder, owner)
            return true
        } catch {
            return false
        }
    }

    /// Who could make what is missing in a folder. Only such a folder is open to others: any other was refused before.
    private static func maker(in folder: stat?) -> String? { folder?.isOpenToAll == true ? "every user" : nil }

    /// Who besides the owners could change what stands here. Their own group counts as them, and that of a directory of root
    /// is the administrator's choice.
    private static func stranger(in status: stat, _ owners: Set<uid_t>) -> String? {
        if !owners.contains(status.st_uid) { return name(of: status.st_uid) }
        guard status.isFolder else { return nil }
        // With the sticky bit others can only add names, and who owns the next one is seen there.
        if status.isOpenToAll { return status.isSticky ? nil : "every user" }
        let isOthers = status.st_mode & S_IWGRP != 0 && status.st_uid != 0
        let own = getpwuid(status.st_uid).map { $0.pointee.pw_gid }
        return isOthers && status.st_gid != 0 && status.st_gid != own ? "a member of the directory's group" : nil
    }

    /// Whether this process is root, and the directory belongs to another user.
    var differsFromRoot: Bool { geteuid() == 0 && user != 0 }

    /// Lets the owner reach the directory by its path. Does nothing unless `differsFromRoot`.
    func makeReachable() throws(StateError) { if differsFromRoot, !isReachable { try mountReachably() } }

    /// Makes this process the directory's owner for good. Does nothing unless `differsFromRoot`.
    ///
    /// Call it while this is the only thread. No other process of the owner can look into this one afterwards, because it is
    /// not dumpable (prctl(2)). Another program would be dumpable again, and write to root's terminal: no program can be started
    /// afterwards. Nor can this one type into the terminal, should a file in the directory take it over. Memory and processor
    /// time are limited, because what is in the directory may have any size, or no end.
    func become() throws(StateError) {
        guard differsFromRoot else { return }
        guard setgroups(0, nil) == 0, setgid(group) == 0, setuid(user) == 0, setuid(0) != 0, geteuid() == user else {
            // Before the user database is asked for the name.
            let reason = SystemError.last
            throw StateError(message: "cannot become \(name), who owns \(folder) (\(reason)); run this as \(name)")
        }
        // Changing the user has set this to `fs.suid_dumpable`. With 2, as on a machine that keeps core dumps, the owner could
        // have what root has typed dumped by a signal.
        _ = clinux_prctl(PR_SET_DUMPABLE, 0)
        // Not possible on a kernel without seccomp. No command relies on it: it starts programs before.
        _ = clinux_forbid_programs()
        ProcessLimit.memory(ProcessLimit.memoryOfThisMachine)
        ProcessLimit.time(ProcessLimit.timeOfCommand)
    }

    private var name: String { Self.name(of: user) }

    /// The user's name; its number when it has none.
    static func name(of user: uid_t) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "uid \(user)"
    }

    // MARK: Reaching the directory

    /// Whether the owner can reach the directory by its path.
    private var isReachable: Bool {
        _ = clinux_setfsgid(group)
        _ = clinux_setfsuid(user)
        defer {
            _ = clinux_setfsuid(0)
            _ = clinux_setfsgid(0)
        }
        return stat(of: folder).map { Identity(device: $0.st_dev, inode: $0.st_ino) } == identity
    }

    /// Shows the directory at its path to this process alone, inside an empty parent that the owner can enter.
    ///
    /// systemd keeps the directories of dynamic users in /var/lib/private, which only root can enter, and does the same
    /// for the service (systemd.exec(5), `DynamicUser=`).
    private func mountReachably() throws(StateError) {
        let apart = UInt(CLINUX_MS_REC | CLINUX_MS_SLAVE)
        guard clinux_unshare(Int32(CLINUX_NEWNS)) == 0, clinux_mount(nil, "/", nil, apart, nil) == 0,
            let place = Files.realPath(of: folder) as NSString?
        else { throw unreachable }
        // Opened once, because the owner could replace a name between two steps. After `unshare`: only a directory of the new
        // mount namespace can be mounted there.
        let parent = open(place.deletingLastPathComponent, Self.asDirectory)
        guard parent >= 0 else { throw unreachable }
        defer { close(parent) }
        let descriptor = openat(parent, place.lastPathComponent, Self.asDirectory)
        guard descriptor >= 0 else { throw unreachable }
        defer { close(descriptor) }
        guard let status = stat(of: descriptor),
            Identity(device: status.st_dev, inode: status.st_ino) == identity,
            Self.cover(parent, with: descriptor, named: place.lastPathComponent), isReachable
        else { throw unreachable }
    }

    private static let asDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    /// Where a file system is made before it is moved to its place: only root can replace a name there.
    private static let workshop = "/dev"

    /// Covers a directory with one that has nothing but `directory`, by this name.
    private static func cover(_ parent: Int32, with directory: Int32, named name: String) -> Bool {
        let plain = UInt(CLINUX_MS_NOSUID | CLINUX_MS_NODEV | CLINUX_MS_NOEXEC)
        let place = "\(workshop)/\(name)"
        guard clinux_mount("tmpfs", workshop, "tmpfs", plain, "mode=0755,size=64k") == 0, mkdir(place, 0o700) == 0,
            clinux_mount("/proc/self/fd/\(directory)", place, nil, UInt(CLINUX_MS_BIND), nil) == 0,
            // Nothing else can be written there, because it would be lost.
            clinux_mount("tmpfs", workshop, "tmpfs", plain | UInt(CLINUX_MS_REMOUNT | CLINUX_MS_RDONLY), nil) == 0,
            clinux_mount(workshop, "/proc/self/fd/\(parent)", nil, UInt(CLINUX_MS_MOVE), nil) == 0
        else { return false }
        return true
    }

    private var unreachable: StateError {
        StateError(
            message: "\(name), who owns \(folder), cannot enter a directory above it; run this command as \(name), or "
                + "run chmod o+x on the directories above it",
            isOwnedByAnother: true)
    }
}

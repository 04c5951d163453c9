import Glibc
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("Who decides where a state directory is")
struct StateOwnerTests {
    private static let owner: uid_t = 1000
    private static let outside: uid_t = 65_534

    private static func directory(_ user: uid_t, _ mode: mode_t = 0o755) -> stat {
        var status = stat()
        status.st_uid = user
        status.st_gid = user
        status.st_mode = S_IFDIR | mode
        return status
    }

    /// The path of the first stranger below a root directory of `root`, on the way to `/home/state`.
    private static func stranger(root: uid_t, home: uid_t, state: uid_t) -> String? {
        let steps = [("/", directory(root)), ("/home", directory(home)), ("/home/state", directory(state))]
            .map { PathSteps.Step(path: $0, status: $1) }
        return StateOwner.stranger(on: steps, owner: state)?.path
    }

    @Test("root and the owner may have every directory on the way, and no other user")
    func machine() {
        #expect(Self.stranger(root: 0, home: 0, state: Self.owner) == nil)
        #expect(Self.stranger(root: 0, home: Self.owner, state: Self.owner) == nil)
        #expect(Self.stranger(root: 0, home: 1001, state: Self.owner) == "/home")
        #expect(Self.stranger(root: 0, home: Self.outside, state: Self.owner) == "/home")
        #expect(Self.stranger(root: 0, home: Self.owner, state: 0) == "/home")
    }

    @Test("in a user namespace, the directories of root outside are as those of root")
    func namespace() {
        #expect(Self.stranger(root: Self.outside, home: Self.outside, state: 0) == nil)
        #expect(Self.stranger(root: Self.outside, home: 0, state: 0) == nil)
        #expect(Self.stranger(root: Self.outside, home: 1001, state: 0) == "/home")
    }

    @Test("a command takes no group from the directory that its owner does not have")
    func groups() throws {
        func group(_ user: uid_t, _ group: gid_t) -> gid_t {
            var status = Self.directory(user, 0o700)
            status.st_gid = group
            return StateOwner.group(of: status)
        }
        let games = try #require(getpwnam("games")).pointee
        let staff = try #require(getgrnam("staff")).pointee.gr_gid
        // As `mkdir` and `chown games` leave it: for root, and in /var/local, where the files of staff would be open.
        for other in [0, staff] { #expect(group(games.pw_uid, other) == games.pw_gid) }
        #expect(group(games.pw_uid, games.pw_gid) == games.pw_gid)
        let (dynamic, unknown): (uid_t, uid_t) = (61_500, 54_321)
        for user in [dynamic, unknown] { #expect(group(user, staff) == staff && group(user, 0) == 65_534) }
    }

    @Test("root does not go on where it cannot see whose directory it is", .enabled(if: geteuid() == 0))
    func hidden() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("state")
        // Stands for a file system that does not let root in.
        try #require(symlink(path, path) == 0)
        #expect(StateOwner(folder: path) == nil)
        #expect(throws: StateError.self) { try StateOwner.requireOwnPath(of: path, nil) }
        try #require(unlink(path) == 0)
        try StateOwner.requireOwnPath(of: path, nil)
        try #require(mkdir(path, 0o700) == 0)
        #expect(throws: StateError.self) { try StateOwner.requireOwnPath(of: path, nil) }
        try StateOwner.requireOwnPath(of: path, StateOwner(folder: path))
    }
}

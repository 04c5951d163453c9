/// The users that the packaged services run as. All have the group whose members may call.
package enum DaemonUser {
    /// The ids of `DynamicUser=` (systemd.exec(5)).
    package static let dynamic: ClosedRange<UInt32> = 61_184...65_519

    /// False for the ids of people: there is no need to ask for their names.
    static func isPossible(_ user: UInt32) -> Bool { user < 1000 || dynamic.contains(user) }

    /// `name` is nil when the user database has none. That of a dynamic user is known only with libnss-systemd; without it, such
    /// a user counts as a daemon.
    static func isDaemon(_ user: UInt32, named name: String?) -> Bool {
        guard let name else { return dynamic.contains(user) }
        return isPossible(user) && (name == "repairminder-sync" || name.hasPrefix("rmsync-"))
    }
}

import ArgumentParser

/// A command that reads or writes the state directory. When root runs it, it becomes the directory's owner first.
protocol StateCommand: ParsableCommand, SendableMetatype {
    associatedtype Options: ConfigurationSource
    var options: Options { get }

    /// Opens the files that only root can reach, and runs the programs that the command needs, before root becomes the
    /// owner; called only then. Afterwards no program can be started.
    mutating func openAsRoot() throws
}

extension StateCommand {
    mutating func openAsRoot() throws {}

    /// Call it before the first thread. Does nothing when the configuration is invalid or the directory is missing: the
    /// command says so itself. Throws when others could put another directory in its place.
    mutating func becomeOwner() throws {
        guard let configuration = try? options.configuration(environment: .ofThisProcess()) else { return }
        let owner = StateOwner(folder: configuration.stateDirectory)
        try StateOwner.requireOwnPath(of: configuration.stateDirectory, owner)
        guard let owner, owner.differsFromRoot else { return }
        try owner.makeReachable()
        try openAsRoot()
        try owner.become()
    }
}

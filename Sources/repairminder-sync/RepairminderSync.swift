import ArgumentParser

@main struct RepairminderSync: AsyncParsableCommand {
    func run() async throws { print(try ConfigurationReader(path: nil, flags: [:], surroundings: .ofThisProcess()).configuration()) }
}

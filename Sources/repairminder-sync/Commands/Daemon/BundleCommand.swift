import ArgumentParser
import Glibc

/// Signed bundles of configuration and schema. It does not touch the state directory, so root stays root.
struct BundleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bundle", abstract: "Install a signed bundle of configuration and schema.",
        subcommands: [Install.self])
}

extension BundleCommand {
    struct Install: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install",
            abstract: "Check a bundle's signature and contents, and put it in place of the one before.",
            discussion: """
                The signature is FILE.minisig; bundle.public_key in the configuration has the key. Refuses a bundle that \
                is older than the installed one, and one with which the configuration would be invalid. Keeps the one \
                before. The daemon reads the new one when it is reloaded.
                """)

        @Argument(help: "The bundle; its signature is beside it.", completion: .file(extensions: ["yaml"]))
        var file: String

        @Flag(help: "Also install a bundle that is older than the installed one.")
        var allowOlder = false

        @OptionGroup var options: BriefConfigurationOptions

        func run() async throws {
            let environment = Environment.ofThisProcess()
            let serial = try Self.install(
                environment.absolute(file), options.setupReader(environment: environment), allowsOlder: allowOlder)
            let configuration = try options.configuration(environment: environment)
            let reload = configuration.startCommand().replacing("systemctl start", with: "systemctl reload")
            let next = reload.hasPrefix("sudo") ? "run \(reload)" : "reload the daemon with SIGHUP"
            try StandardStream.output.writeResult("installed bundle \(serial); \(next)\n")
        }

        /// Returns its number.
        static func install(_ file: String, _ reader: SetupReader, allowsOlder: Bool) throws -> Int {
            guard let place = try ConfigurationFiles(named: reader.path, environment: reader.environment).bundlePlace()
            else {
                throw CommandFailure(
                    .badConfiguration,
                    "bundle.file and bundle.public_key are not set; set both in the configuration file")
            }
            try requireOwnPlace(place)
            return try install(Bundle.Files(at: file), at: place, reader, allowsOlder)
        }

        /// Throws when root runs this, and another user could have it write elsewhere by a link on the way to the bundle.
        private static func requireOwnPlace(_ place: Bundle.Place) throws(CommandFailure) {
            guard geteuid() == 0, let found = StateOwner.stranger(on: PathSteps(to: place.file).steps, owner: 0) else {
                return
            }
            throw CommandFailure(
                .badConfiguration,
                "root installs no bundle at \(place.file), because \(found.name) could lead it elsewhere, by way of "
                    + "\(found.path); set bundle.file to a place that only root can change")
        }

        /// What is checked here is what is installed, whatever becomes of the files meanwhile.
        static func install(
            _ files: Bundle.Files, at place: Bundle.Place, _ reader: SetupReader, _ allowsOlder: Bool
        ) throws -> Int {
            let bundle = try Bundle.read(files, place.key).bundle
            var reader = reader
            reader.checksKey = false
            reader.bundle = BundleReading(candidate: files, acceptsFormer: false)
            _ = try reader.setup()
            do throws(BundleError) {
                try BundleInstallation(place: place).install(bundle, allowsOlder: allowsOlder)
            } catch {
                throw CommandFailure(.badData, error.problem)
            }
            return bundle.serial
        }
    }
}

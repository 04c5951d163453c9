import ArgumentParser
import EntitySchema
import Upstream

struct CheckConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Read configuration, schema, token and key file as run would, and say whether they can be used.",
        discussion: "Takes the flags of run. Prints ok, or what is wrong and where, with exit status 78.")

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let surroundings = Surroundings.ofThisProcess()
        let configuration = try options.configuration(surroundings: surroundings)
        let finder = SchemaFinder(surroundings: surroundings)
        let schema = try finder.schema(for: configuration)
        if let path = configuration.upstream.tokenFile {
            do {
                _ = try BearerToken(path: path)
            } catch {
                throw ConfigurationError(place: "upstream.token_file", problem: error.message)
            }
        }
        do {
            _ = try SecretKeyFile(configuration).existing()
        } catch {
            throw ConfigurationError(place: "secret_key_file", problem: error.message)
        }
        for warning in configuration.warnings { StandardStream.error.write("warning: \(warning)\n") }
        let lines = [
            "ok", "configuration  \(configuration.file ?? "none, all defaults")",
            "schema         \(try finder.path(for: configuration)) (\(schema.entities.count) entities)",
            "state_dir      \(configuration.stateDirectory)",
        ]
        StandardStream.output.write(lines.joined(separator: "\n") + "\n")
    }
}

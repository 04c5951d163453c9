import ArgumentParser
import Foundation
import LocalAPI

/// The flags that locate the daemon; without them the configuration does.
struct ConnectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The daemon's configuration file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The daemon's Unix socket.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("The daemon's address, such as 127.0.0.1:7679.", valueName: "host:port"))
    var address: String?

    @Option(help: ArgumentHelp("A file that contains the local API's token.", valueName: "file"))
    var tokenFile: String?

    func validate() throws {
        if socket != nil, address != nil { throw ValidationError("use --socket or --address, not both") }
    }

    /// The socket of a daemon installed from the package.
    static let systemSocket = "/run/repairminder-sync/api.sock"

    func connection(
        environment: Environment, systemSocket: String = Self.systemSocket
    ) throws(CommandFailure) -> DaemonConnection {
        if let socket { return DaemonConnection(place: .unix(socket), token: try givenToken(environment)) }
        if let address { return DaemonConnection(place: .tcp(Self.url(address)), token: try givenToken(environment)) }
        let configuration: Configuration
        do {
            configuration = try ConfigurationReader(path: config, flags: [:], environment: environment)
                .configuration()
        } catch {
            throw CommandFailure(error)
        }
        // Only without --config: an explicit configuration must not lead to another daemon's socket.
        var connection = try Self.configured(configuration, systemSocket: config == nil ? systemSocket : nil)
        connection.token = try givenToken(environment) ?? connection.token
        return connection
    }

    /// The connection that a configuration describes.
    static func configured(
        _ configuration: Configuration, systemSocket: String?
    ) throws(CommandFailure) -> DaemonConnection {
        let token = token(configuration.tokenFile)
        if let socket = [configuration.listen.unix, systemSocket].compactMap(\.self).first(where: isSocket) {
            return DaemonConnection(place: .unix(socket), token: token)
        }
        guard let tcp = configuration.listen.tcp else {
            throw CommandFailure(
                .unreachable,
                "there is no socket at \(configuration.listen.unix ?? Self.systemSocket); is the daemon running?")
        }
        return DaemonConnection(place: .tcp("http://\(tcp)"), token: token)
    }

    private func givenToken(_ environment: Environment) throws(CommandFailure) -> String? {
        guard let tokenFile else { return nil }
        guard let token = Self.token(environment.absolute(tokenFile)) else {
            throw CommandFailure(.notAllowed, "\(tokenFile): cannot read a token; check the path and the file's owner")
        }
        return token
    }

    /// Nil when the file is missing or not readable: the daemon may still identify the caller by its user id.
    private static func token(_ path: String) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return token.isEmpty ? nil : token
    }

    private static func url(_ address: String) -> String {
        let url = address.hasPrefix("http://") || address.hasPrefix("https://") ? address : "http://\(address)"
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    private static func isSocket(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.type] as? FileAttributeType == .typeSocket
    }
}

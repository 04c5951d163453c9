import ArgumentParser
import Foundation
import Glibc
import LocalAPI
import SystemCalls
import Upstream

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
        if let address, !Self.isAddress(address) {
            throw ValidationError("--address \(address): expected HOST:PORT, such as 127.0.0.1:7679")
        }
    }

    /// Without a port, the call would go to another program, at port 80. A URL has a port of its own.
    private static func isAddress(_ text: String) -> Bool {
        if text.hasPrefix("http://") || text.hasPrefix("https://") { return true }
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else {
            return false
        }
        return colon > text.startIndex && (1...65_535).contains(port)
    }

    /// The flags that were given, for a command that a message proposes.
    var flags: String {
        let given = [("config", config), ("socket", socket), ("address", address), ("token-file", tokenFile)]
        return given.map { name, value in value.map { " --\(name) \(ShellWord.quoted($0))" } ?? "" }.joined()
    }

    /// The socket of a daemon installed from the package.
    static let systemSocket = "/run/repairminder-sync/api.sock"

    /// A client of the daemon. `deadline` limits each call as a whole, and `largest` its answer.
    func client(
        deadline: Duration = .seconds(60), largest: Int = DaemonConnection.largestAnswer
    ) throws(CommandFailure) -> LocalAPIClient {
        try connection(environment: .ofThisProcess()).client(deadline: deadline, largest: largest)
    }

    func connection(
        environment: Environment, systemSocket: String = Self.systemSocket
    ) throws(CommandFailure) -> DaemonConnection {
        var connection = try place(environment, systemSocket)
        if let tokenFile {
            let path = environment.absolute(tokenFile)
            connection.token = try Self.token(path)
            connection.listeners.trustOwner(of: path)
        }
        connection.listeners.trustOwner(ofFolderOf: systemSocket)
        return connection
    }

    private func place(_ environment: Environment, _ systemSocket: String) throws(CommandFailure) -> DaemonConnection {
        if let socket {
            try Self.requireAccess(socket)
            guard stat(of: socket)?.isSocket ?? true else {
                throw CommandFailure(
                    .unreachable, "--socket \(socket): this is no socket; name the path of listen.unix")
            }
            var connection = DaemonConnection(place: .unix(socket))
            connection.listeners.trustOwner(ofFolderOf: socket)
            return connection
        }
        if let address { return DaemonConnection(place: .tcp(Self.url(address))) }
        let place = try configuredPlace(environment, warns: true)
        // Only without --config: an explicit configuration must not lead to another daemon's socket.
        return try Self.configured(
            place, systemSocket: config == nil ? systemSocket : nil, hasToken: tokenFile != nil)
    }

    /// A mistake elsewhere in the configuration is only a warning: commands must work to find it.
    private func configuredPlace(_ environment: Environment, warns: Bool) throws(CommandFailure) -> DaemonPlace {
        do {
            let reader = try ConfigurationReader(path: config, flags: [:], environment: environment, isLenient: true)
            if warns, let problem = reader.problem { StandardStream.error.write("warning: \(problem)\n") }
            return try reader.place()
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The address of the page, which browsers reach only over TCP.
    func pageAddress(_ environment: Environment) throws(CommandFailure) -> String {
        if let address { return Self.url(address) + "/" }
        guard let tcp = try configuredPlace(environment, warns: false).tcp else {
            throw CommandFailure(
                .badConfiguration, "listen.tcp is off, and a browser cannot use the Unix socket; set listen.tcp")
        }
        return "http://\(tcp)/"
    }

    /// The connection that a configuration describes.
    ///
    /// `hasToken`: the caller has a token, and may use TCP where the socket is closed to this user.
    static func configured(
        _ configuration: DaemonPlace, systemSocket: String?, hasToken: Bool = false
    ) throws(CommandFailure) -> DaemonConnection {
        var listeners = ListenerGuard()
        listeners.trustOwner(of: configuration.stateDirectory)
        let token = try ownToken(configuration)
        let sockets = [configuration.unix, systemSocket].compactMap(\.self).filter(isSocket)
        if !hasToken, token == nil, let socket = sockets.first { try requireAccess(socket) }
        if let socket = sockets.first(where: { GroupAdvice.refusal(of: $0) == nil }) {
            // A variable or another user's configuration can name a socket of that user, who does not get this daemon's token.
            let owner = token == nil ? nil : stat(of: configuration.stateDirectory)?.st_uid
            listeners.trustOwner(ofFolderOf: socket, only: owner)
            return DaemonConnection(place: .unix(socket), token: token, listeners: listeners)
        }
        guard let tcp = configuration.tcp else {
            throw CommandFailure(
                .unreachable,
                "there is no socket at \(configuration.unix ?? Self.systemSocket); is the daemon running?")
        }
        return DaemonConnection(place: .tcp("http://\(tcp)"), token: token, listeners: listeners)
    }

    /// A token file that the caller names.
    private static func token(_ path: String) throws(CommandFailure) -> String {
        do {
            let token = (try text(of: path) ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
            if !token.isEmpty { return token }
        } catch {
            guard access(path, R_OK) != 0, errno == EACCES else { throw CommandFailure(.notAllowed, error.message) }
            throw CommandFailure(
                .notAllowed, "you may not read \(path), and without a token: \(GroupAdvice.ofUnknownCaller)")
        }
        throw CommandFailure(.notAllowed, "\(path): cannot read a token; check the path and the file's owner")
    }

    /// The text of a token file that the caller names; nil when there is no such file. For root it must not be a link that
    /// another user has made: the owner of a daemon's state directory could have root send that daemon what only root may read.
    static func text(of path: String) throws(TokenFileError) -> String? {
        let named = PrivateFile(path: path)
        guard geteuid() == 0 else { return try named.text() }
        // A pipe would have root wait.
        guard stat(of: path)?.isFile ?? true else {
            throw TokenFileError(message: "\(path) is not a regular file; correct the path")
        }
        let file: Int32
        do {
            file = try WholeFile.open(path)
        } catch {
            throw TokenFileError(
                message: "root does not read \(path), where another user has put a link, or could; name a file, by a "
                    + "path without links")
        }
        guard file >= 0 else { return nil }
        defer { close(file) }
        return try named.text(try named.contents(of: file))
    }

    /// The daemon's token. Nil when the file is missing or not readable: the daemon may still identify the caller by its
    /// user id. Nil for root, too, where another user could have put another daemon's directory: that user's socket would get
    /// its token. Throws when the token may be known to others.
    private static func ownToken(_ configuration: DaemonPlace) throws(CommandFailure) -> String? {
        let folder = configuration.stateDirectory
        guard let status = stat(of: folder), StateOwner.isOwnPath(of: folder, StateOwner(folder: folder)),
            access(configuration.tokenFile, R_OK) == 0 || errno == ELOOP
        else { return nil }
        do {
            return try TokenFile(path: configuration.tokenFile).token(readableBy: status.st_uid)
        } catch {
            throw CommandFailure(.notAllowed, error.message)
        }
    }

    private static func url(_ address: String) -> String {
        let url = address.hasPrefix("http://") || address.hasPrefix("https://") ? address : "http://\(address)"
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// Also one in a folder that this user may not enter.
    private static func isSocket(_ path: String) -> Bool {
        guard let status = stat(of: path) else { return errno == EACCES }
        return status.isSocket
    }

    private static func requireAccess(_ socket: String) throws(CommandFailure) {
        if let refusal = GroupAdvice.refusal(of: socket) { throw CommandFailure(.notAllowed, refusal) }
    }
}

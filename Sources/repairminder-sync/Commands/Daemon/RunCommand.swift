import ArgumentParser
import Glibc
import ServiceManager
import SocketServer

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the daemon in the foreground.",
        discussion: "SIGHUP reloads the configuration and schema; SIGTERM and SIGINT stop the daemon.")

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        DaemonHost.prepareProcess()
        var environment = Environment.ofThisProcess()
        let inherited = InheritedSockets(environment: environment.variables, pid: getpid())
        let notifier = ServiceNotifier(environment: environment.variables)
        do {
            environment.inheritedSocket = ListeningSockets.paths(of: inherited.descriptors).first
            let reader = options.setupReader(environment: environment)
            // A reload keeps what runs: only a start needs the bundle before.
            var strict = reader
            strict.bundle.acceptsFormer = false
            let host = DaemonHost.ofThisProcess(
                environment, notifier: notifier, inherited: inherited.descriptors,
                write: LogOutput(.error, now: StateFiles.now).write)
            try await Daemon(try reader.setup(), host: host, reread: { [strict] in try strict.setup() }).run()
        } catch {
            let failure = CommandFailure(any: error)
            // systemctl shows it next to the exit status while the service is down.
            notifier.send(.status(failure?.message ?? "\(error)"))
            // The service manager does not restart it, unless a caller waits.
            if failure?.status == .badConfiguration { inherited.refuseCallers() }
            throw error
        }
    }
}

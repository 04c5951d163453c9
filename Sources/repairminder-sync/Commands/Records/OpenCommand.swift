import ArgumentParser
import CallerLookup
import LocalAPI

struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open the daemon's page in the browser, or print its address.",
        discussion: "Without a graphical session, or with --print, the address is printed.")

    @Flag(help: "Only print the address.")
    var print = false

    @OptionGroup(title: "Where the daemon is")
    var connection: ConnectionOptions

    func run() async throws {
        let environment = Environment.ofThisProcess()
        let address = try connection.pageAddress(environment)
        let daemon = try connection.connection(environment: environment)
        _ = try await daemon.client().get(LocalAPIPaths.status)
        try Self.check(address, daemon.listeners)
        StandardStream.output.write("\(address)\n")
        let isGraphical = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !environment.variables[$0, default: ""].isEmpty }
        guard !print, isGraphical else { return }
        if await ChildProcess.run(["xdg-open", address]) != 0 {
            StandardStream.error.write("xdg-open could not open a browser: open the address yourself\n")
        }
    }

    /// The daemon may have answered on its Unix socket, and a browser calls this address. Where TLS says whose server it is,
    /// or a name leads elsewhere, the browser must find out itself.
    private static func check(_ address: String, _ listeners: ListenerGuard) throws(CommandFailure) {
        guard address.hasPrefix("http://"), let place = ListenAddress(String(address.dropFirst(7).dropLast())),
            let refusal = ListenerChecks.refusal(at: place, listeners, CallerLookup())
        else { return }
        throw CommandFailure(.unreachable, "the page is not opened: \(refusal)")
    }
}

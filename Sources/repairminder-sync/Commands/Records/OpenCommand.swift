import ArgumentParser
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
        _ = try await connection.connection(environment: environment).client().get(LocalAPIPaths.status)
        StandardStream.output.write("\(address)\n")
        let isGraphical = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !environment.variables[$0, default: ""].isEmpty }
        guard !print, isGraphical else { return }
        if ChildProcess.run(["xdg-open", address]) != 0 {
            StandardStream.error.write("xdg-open could not open a browser: open the address yourself\n")
        }
    }
}

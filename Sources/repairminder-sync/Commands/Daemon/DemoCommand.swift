import ArgumentParser
import EntitySchema
import Foundation
import Glibc
import JSONText
import LocalAPI

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Run a sample upstream and the daemon until Ctrl-C, to try everything.",
        discussion: """
            Needs no configuration, no account and no network. It fills a sample upstream with records, pulls them, and \
            prints commands to try. Ctrl-C stops both and removes all files.

            --schema takes the file of any schema, such as one that init has drafted: you see how it behaves before it \
            meets the real service.
            """)

    @Option(help: ArgumentHelp("A schema that is built in, or the path of any schema's file.", valueName: "schema"))
    var schema = "repairminder"

    @OptionGroup var settings: SettingOption

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The number of orders, or of records of entities that belong to no other.", valueName: "count"))
    var rows = 500

    @Option(help: "The seed of the sample records; a seed always gives the same.")
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "The port of the local API; the upstream gets the next one. With 0, or if one is taken, the system chooses.",
            valueName: "port"))
    var port: UInt16 = 7679

    func validate() throws {
        guard rows >= 1 else { throw ValidationError("--rows is \(rows); expected at least 1") }
    }

    func run() async throws {
        DaemonHost.prepareProcess()
        let folder = try Environment.ofThisProcess().makeTemporaryFolder("repairminder-demo.")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let shop = DemoShop(
            schema: schema, settings: settings.values, rows: rows, seed: seed, port: port, folder: folder)
        try await shop.run { try await show($0, folder) }
    }

    /// Pulls everything and prints what to try.
    private func show(_ shop: DemoShop.Running, _ folder: String) async throws {
        try await DemoPull(client: shop.client, api: Self.short(shop.api), clock: TimerClock()).run {
            StandardStream.error.write($0)
        }
        let (api, upstream) = (Self.short(shop.api), Self.short(shop.upstream))
        if port != 0, !api.hasSuffix(":\(port)") {
            StandardStream.output.write(
                "Port \(port) is taken, so the local API uses another one. Commands in the docs call what has it, "
                    + "perhaps your service: do not paste them.\n")
        }
        var text = "\nThe local API is at \(api), its upstream at \(upstream). "
        if let tour = DemoTour(of: shop.schema), let record = try await example(tour, shop.client) {
            let commands = tour.commands(for: record, api: api, upstream: upstream)
            text += "Commands to try, in another terminal:\n\n" + commands.map { "  \($0)\n" }.joined()
        } else {
            text += "To try it, in another terminal:\n\n  curl -s \(api)/v1 | jq\n"
        }
        text += """
              repairminder-sync status --address \(api)

            http://\(api)/ shows everything in a browser. The daemon's log is \(folder)/daemon.log.
            Ctrl-C stops everything and removes all files.

            """
        StandardStream.output.write(text)
    }

    private func example(_ tour: DemoTour, _ client: LocalAPIClient) async throws -> JSONText? {
        let page = try await client.get(LocalAPIPaths.records(of: tour.entity.name), query: [("limit", "2")])
        return page.body?["data"]?.elements.last
    }

    private static func short(_ address: String) -> String { String(address.trimmingPrefix("http://")) }
}

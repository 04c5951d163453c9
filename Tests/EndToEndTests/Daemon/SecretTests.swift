import Foundation
import JSONText
import Testing

/// Secrets are sealed in every file, tested with the built commands.
@Suite("Secrets", .serialized)
struct SecretTests {
    @Test("a passcode is sealed in every file, shown on request, and sent as it is", .timeLimit(.minutes(5)))
    func story() async throws {
        let shop = try await Shop(
            realRecords: true, editing: { $0.replacing("[status, diagnosis", with: "[passcode, status, diagnosis") })
        do {
            let (device, passcode) = try await pull(shop)
            try await reveal(shop, device, passcode)
            try await change(shop, device)
            try await keepKey(shop)
        } catch {
            await shop.end()
            throw error
        }
        await shop.end()
    }

    private func pull(_ shop: Shop) async throws -> (device: String, passcode: String) {
        #expect(try await shop.command("sync", "--wait").status == 0)
        let devices = try await shop.admin("records/devices")
        let device = try #require(devices.first { $0["passcode"]?.kind == .string })
        // Only a few, because each is searched for in every byte of the folder.
        for passcode in devices.compactMap({ $0["passcode"] }).filter({ $0.kind == .string }).prefix(10) {
            #expect(try await !shop.stores("\"passcode\":\(passcode.text)"))
        }
        #expect(try await shop.stores("sealed:1:"))
        return (try #require(device["id"]?.string), try #require(device["passcode"]?.string))
    }

    private func reveal(_ shop: Shop, _ device: String, _ passcode: String) async throws {
        #expect(try await shop.call("GET", "/v1/devices/\(device)").body["passcode"] == nil)
        let plain = try await shop.command("get", "devices", device)
        #expect(plain.status == 0 && !plain.output.contains("passcode"))
        let shown = try await shop.command("get", "devices", device, "--reveal", "passcode", "--json")
        #expect(try JSONText(parsing: shown.output)["passcode"]?.string == passcode)
        let line = try await shop.daemonLine(containing: "secrets were shown")
        #expect(line.contains("id=\(device)") && line.contains("fields=passcode") && !line.contains(passcode))
        #expect(try await shop.command("get", "devices", device, "--reveal", "brand").status != 0)
    }

    private func change(_ shop: Shop, _ device: String) async throws {
        await shop.gateway.close()
        let body = JSONText.object(["passcode": "pattern 7-4-1-5-9"])
        let answer = try await shop.call("PATCH", "/v1/devices/\(device)", body)
        #expect(answer.status == 200 && answer.body["passcode"] == nil)
        #expect(try await !shop.stores("7-4-1-5-9"))
        await shop.killDaemon()
        try await shop.startDaemon()
        try await shop.gateway.open()
        #expect(try await shop.command("sync", "--wait").status == 0)
        let there = try await shop.admin("records/devices").first { $0["id"]?.string == device }
        #expect(there?["passcode"] == "pattern 7-4-1-5-9")
        #expect(try await !shop.stores("7-4-1-5-9"))
    }

    /// The daemon does not start without the key that sealed its cache, nor with one that others can read.
    private func keepKey(_ shop: Shop) async throws {
        #expect(await shop.stopDaemon() == 0)
        let key = shop.folder.appending(path: "state/secret.key")
        let bytes = try Data(contentsOf: key)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key.path)
        let open = try await shop.command("run")
        #expect(open.status == 78 && open.output.contains("run chmod -R go= "))
        #expect(try await shop.command("check-config").status == 78)
        try FileManager.default.removeItem(at: key)
        let lost = try await shop.command("run")
        #expect(lost.status == 78 && lost.output.contains("sealed with another key"))
        try bytes.write(to: key)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
        try await shop.startDaemon()
        #expect(try await shop.call("GET", "/v1/status").status == 200)
    }
}

extension Shop {
    /// Whether any file in the state directory contains this text.
    fileprivate func stores(_ text: String) throws -> Bool {
        let state = folder.appending(path: "state")
        return try FileManager.default.subpathsOfDirectory(atPath: state.path).contains { name in
            let file = state.appending(path: name)
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return false }
            return try Data(contentsOf: file, options: .alwaysMapped).range(of: Data(text.utf8)) != nil
        }
    }
}

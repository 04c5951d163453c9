/// Checks that the package's socket unit listens where the configuration says.
struct SocketUnitChecks {
    /// The addresses of the unit: `127.0.0.1:7679` or a path.
    let unit: [String]
    let configuration: Configuration

    private static let check = "sockets"
    private static let advice =
        "run systemctl edit repairminder-sync.socket: [Socket], an empty ListenStream=, then ListenStream= with each "
        + "address of listen in the configuration; or change listen"

    /// What systemd says about the unit; empty when there is no systemd. Root asks before it becomes another user, who could
    /// take the program over.
    static func shown() -> String {
        ChildProcess.output(of: [
            "/usr/bin/systemctl", "show", "repairminder-sync.socket", "--property=ActiveState,Listen",
        ]) ?? ""
    }

    /// `text` is what `systemctl show` prints. Nil when the unit is not active.
    init?(shown text: String, configuration: Configuration) {
        let lines = text.split(separator: "\n")
        guard lines.contains("ActiveState=active") else { return nil }
        let prefix = "Listen="
        unit = lines.filter { $0.hasPrefix(prefix) }.map { line in
            String(line.dropFirst(prefix.count).prefix { $0 != " " })
        }
        self.configuration = configuration
    }

    func findings() -> [Finding] {
        let addresses = [configuration.listen.tcp, configuration.signals.listen].compactMap { $0?.addresses }.joined()
        let tcp = addresses.map { ListenAddress.text($0.host, $0.port) }
        let configured = tcp + [configuration.listen.unix].compactMap(\.self)
        let unused = unit.filter { !configured.contains($0) && !isOtherLoopback($0, configured) }
        guard !unused.isEmpty else { return [.ok(Self.check, "the socket unit listens where the configuration says")] }
        let clash = tcp.first { address in
            !unit.contains(address) && unused.contains { Self.port($0) == Self.port(address) }
        }
        let places = unused.joined(separator: ", ")
        guard let clash else {
            return [
                .warning(
                    Self.check, "the socket unit also listens at \(places), where the daemon only says where to call",
                    Self.advice)
            ]
        }
        return [
            .error(Self.check, "the socket unit holds \(places), so the daemon cannot listen at \(clash)", Self.advice)
        ]
    }

    /// Served beside 127.0.0.1 with the same port, because localhost leads to both.
    private func isOtherLoopback(_ address: String, _ configured: [String]) -> Bool {
        address.hasPrefix("[::1]:") && configured.contains("127.0.0.1:\(Self.port(address) ?? "")")
    }

    /// Nil for a path.
    private static func port(_ address: String) -> String? {
        address.hasPrefix("/") ? nil : address.split(separator: ":").last.map(String.init)
    }
}

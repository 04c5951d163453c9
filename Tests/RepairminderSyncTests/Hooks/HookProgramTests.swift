import Foundation
import Glibc
import JSONText
import SyncEngine
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import EntitySchema
@testable import repairminder_sync

@Suite("Programs that hooks run")
struct HookProgramTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let schema = """
        schema: shop
        upstream: { base_url: "http://localhost" }
        entities:
          orders: { local: true, fields: { id: { type: string }, number: { type: string } } }
        """

    private func run(
        _ script: String, _ arguments: [String] = [], deadline: Duration = .seconds(60), memory: Int? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws {
        let schema = try EntitySchema(yaml: Self.schema, file: "shop.yaml")
        let texts = ["-c", script, "sh", folder.path("written")] + arguments
        let program = HookProgram(
            path: "/bin/sh",
            arguments: texts.map { $0.contains("{number}") ? Template($0) ?? Self.plain($0) : Self.plain($0) },
            entity: schema["orders"], environment: ["PATH": "/usr/bin:/bin"], deadline: deadline, memory: memory,
            clock: ContinuousClock(), report: report)
        try await program.run(Self.delivery)
    }

    private static let delivery = HookDelivery(
        hook: "label", key: "label-e-7",
        occurrence: HookOccurrence(event: .changed, seq: 7, at: .sample, entity: "orders", key: "a"), attempt: 2,
        record: .object(["id": "a", "number": "; $(id)"]))

    private static func plain(_ text: String) -> Template { Template(parts: [.text(text)]) }

    private var written: String {
        get throws { try String(contentsOfFile: folder.path("written"), encoding: .utf8) }
    }

    @Test
    func `the event is the program's input, and arguments are filled in without a shell`() async throws {
        try await run(#"{ cat; printf '|%s|%s|%s' "$2" "$HOOK_KEY" "$HOOK_ATTEMPT"; } > "$1""#, ["--n={number}"])
        let parts = try written.split(separator: "|").map(String.init)
        let event = try JSONText(parsing: try #require(parts.first))
        #expect(event["event"] == "changed" && event["seq"]?.integer == 7)
        #expect(event.at(path: "record.number") == "; $(id)")
        #expect(parts.dropFirst() == ["--n=; $(id)", "label-e-7", "2"])
    }

    @Test
    func `it can gain no rights, and has its limits`() async throws {
        let script = #"{ grep NoNewPrivs /proc/self/status; ulimit -d; ulimit -c; ulimit -t; } > "$1""#
        try await run(script, deadline: .seconds(30), memory: 64 << 20)
        #expect(try written == "NoNewPrivs:\t1\n65536\n0\n31\n")
    }

    @Test
    func `the kernel ends it before the daemon when memory runs out`() async throws {
        try await run(#"cat /proc/self/oom_score_adj > "$1""#)
        #expect(try written == "1000\n")
    }

    /// Returns when the process whose number was written has ended; the kernel kills it a moment after the call.
    private func waitForEndOfChild() async throws {
        let child = try #require(Int32(try written.trimmingCharacters(in: .whitespacesAndNewlines)))
        // Its parent is gone, so at most a dead entry is left until init has read it.
        while let state = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8), !state.contains(") Z ") {
            await Task.yield()
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a program that hangs is killed with what it started, and says so`() async throws {
        await #expect {
            try await run(#"sleep 600 & echo $! > "$1"; wait"#, deadline: .milliseconds(500))
        } throws: { "\($0)".contains("took longer than its deadline") }
        try await waitForEndOfChild()
    }

    @Test(.timeLimit(.minutes(10)))
    func `a program that moves to the daemon's group is killed too`() async throws {
        let move = "setpgrp(0, getpgrp(getppid())); sleep(600)"
        await #expect {
            try await run("exec /usr/bin/perl -e '\(move)'", deadline: .seconds(1))
        } throws: { "\($0)".contains("took longer than its deadline") }
    }

    @Test(.timeLimit(.minutes(10)))
    func `what a program leaves behind is ended with it`() async throws {
        try await run(#"sleep 600 & echo $! > "$1""#)
        try await waitForEndOfChild()
    }

    @Test(.timeLimit(.minutes(10)))
    func `what a program writes is reported line by line, up to a limit`() async throws {
        let lines = Mutex<[String]>([])
        try await run(#"printf '\033[2Jone\n\ntwo\n' >&2; seq 300; printf end"#) { line in
            lines.withLock { $0.append(line) }
        }
        let reported = lines.withLock { $0 }
        #expect(reported.prefix(3) == ["\u{1b}[2Jone", "two", "1"])
        #expect(reported.suffix(2) == ["98", "… (more is left out)"])
    }

    @Test(.timeLimit(.minutes(10)))
    func `a process that leaves the group and holds the output open does not hold up the end`() async throws {
        try await run(#"setsid sleep 600 & echo $! > "$1""#)
        let child = try #require(Int32(try written.trimmingCharacters(in: .whitespacesAndNewlines)))
        kill(child, SIGKILL)
    }

    @Test(.timeLimit(.minutes(10)))
    func `programs that hang hold up neither each other nor tasks`() async {
        let programs = 40
        let begun = Counter()
        let latest = ContinuousClock.now + .seconds(10)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<programs {
                group.addTask { try? await run("echo begun; exec sleep 600") { _ in begun.next() } }
            }
            while begun.count < programs, ContinuousClock.now < latest { await Task.yield() }
            group.cancelAll()
        }
        #expect(begun.count == programs)
    }

    @Test
    func `a failure says what happened`() async throws {
        await #expect { try await run("exit 3") } throws: { "\($0)".contains("status 3") }
    }

    @Test
    func `a webhook's signature is that of Standard Webhooks`() {
        // The example of their specification's reference implementation.
        let secret = Array(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") ?? Data())
        let signature = HookWebhook.signature(
            of: Array(#"{"test": 2432232314}"#.utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek", time: "1614265330",
            secret: secret)
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    /// Keeps what it is given.
    private final class Receiver: HTTPTransport {
        private let state = Mutex<[HTTPRequest]>([])

        var requests: [HTTPRequest] { state.withLock { $0 } }

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            state.withLock { $0.append(request) }
            return HTTPResponse(status: 204, headers: [], body: [])
        }
    }

    @Test(arguments: [true, false])
    func `a webhook for reminders gets the reminder alone, signed if there is a secret`(isSigned: Bool) async throws {
        let secret = try folder.write("It's a secret", to: "secret")
        try #require(chmod(secret, 0o600) == 0)
        var delivery = Self.delivery
        delivery.reminder = Reminder(
            id: 1, rule: "due", entity: "orders", key: "a", text: "Filter", dueAt: .sample, state: .due, attempts: 0)
        let receiver = Receiver()
        try await HookWebhook(
            url: "http://127.0.0.1:1/x", secrets: isSigned ? SignalSecrets(path: secret) : nil, deadline: .seconds(1),
            transport: receiver, now: { .sample }
        ).send(delivery)
        let request = try #require(receiver.requests.first)
        #expect(try JSONText(request.body ?? [])["text"] == "Filter")
        let names = request.headers.map(\.name)
        #expect(names.contains("Idempotency-Key") && names.contains("webhook-signature") == isSigned)
    }

    private struct CutConnection: HTTPTransport {
        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            throw .ambiguous("no complete response")
        }
    }

    @Test
    func `the failure of a webhook that ends the connection is in plain words`() async throws {
        let secret = try folder.write("It's a secret", to: "secret")
        try #require(chmod(secret, 0o600) == 0)
        let webhook = HookWebhook(
            url: "http://127.0.0.1:1/x", secrets: SignalSecrets(path: secret), deadline: .seconds(1),
            transport: CutConnection(), now: { .sample })
        let expected = "http://127.0.0.1:1/x did not accept the event (no complete response); check the hook's webhook"
        await #expect {
            try await webhook.send(Self.delivery)
        } throws: {
            "\($0)" == expected
        }
    }
}

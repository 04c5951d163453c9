import LocalAPI
import Testing

@testable import repairminder_sync

@Suite struct FeedRunnerTests {
    @Test("what passes is tried again, and what only a person can change is not")
    func errors() {
        for state in ["08006", "40001", "40P01", "53300", "57P01", "55P03"] {
            #expect(FeedRunner.passing(PostgresError(state: state, message: "x")) != nil)
        }
        #expect(FeedRunner.passing(PostgresError(state: nil, message: "no route")) == "PostgreSQL: no route")
        #expect(FeedRunner.passing(PostgresError(.overtaken, "x")) != nil)
        #expect(FeedRunner.passing(PostgresError(state: "42501", message: "permission denied")) == nil)
        #expect(FeedRunner.passing(LocalAPIError.unreachable("x")) != nil)
        #expect(FeedRunner.passing(LocalAPIError.unexpected("x")) == nil)
        #expect(FeedRunner.passing(CommandFailure(.badData, "x")) == nil)
    }

    @Test("the pauses grow up to half a minute, and are not the same for all")
    func pauses() {
        #expect(FeedRunner.pause(after: 1, 0) == .milliseconds(200))
        #expect(FeedRunner.pause(after: 1, 1) == .milliseconds(100))
        #expect(FeedRunner.pause(after: 3, 0) == .milliseconds(800))
        #expect(FeedRunner.pause(after: 1000, 0) == .seconds(30))
    }

    @Test("a message of several lines is one")
    func messages() {
        let error = PostgresError(state: nil, message: "connection failed\n\tIs the server running?\n")
        #expect(error.message == "connection failed; Is the server running?")
    }

    @Test("without the client library the command says how to install it")
    func missingLibrary() {
        do throws(CommandFailure) {
            _ = try LibPQ(fileName: "libpq-that-is-not-there.so")
            Issue.record("there is such a library")
        } catch {
            #expect(error.status == .badConfiguration && error.message.contains("apt-get install libpq5"))
        }
    }

    @Test("an address is one of PostgreSQL, and a password in it is noticed")
    func addresses() {
        for address in ["postgresql:///x", "postgres://u@h/x", "service=reports", "host=/tmp dbname=x"] {
            #expect(FeedSettings.mistake(in: address) == nil)
            #expect(!FeedSettings.hasPassword(address))
        }
        #expect(FeedSettings.mistake(in: "reports") != nil)
        for address in [
            "postgresql://u:p@h/x", "postgresql://h/x?password=p", "host=h password=p", "host=h password = p",
        ] {
            #expect(FeedSettings.hasPassword(address))
        }
        #expect(!FeedSettings.hasPassword("postgresql://u@[::1]:5432/x"))
        #expect(FeedSettings.mistake(inInstance: "o'brien \"1\"") == nil)
        #expect(FeedSettings.mistake(inInstance: "") != nil && FeedSettings.mistake(inInstance: "a\u{0}") != nil)
        #expect(FeedSettings.mistake(inSchemaName: "pg_x") != nil && FeedSettings.mistake(inSchemaName: "x") == nil)
    }

    @Test("a connection to another machine without a checked certificate is one to warn of")
    func weakness() {
        for host in ["", "/run/postgresql", "@abstract", "localhost", "127.0.0.1,::1"] {
            #expect(FeedSettings.weakness(of: ["host": host, "sslmode": "prefer"]) == nil)
        }
        for mode in ["verify-full", "verify-ca"] {
            #expect(FeedSettings.weakness(of: ["host": "db.example.org", "sslmode": mode]) == nil)
        }
        for place in [
            ["host": "db.example.org"], ["host": "localhost,db.example.org"],
            ["host": "localhost", "hostaddr": "192.0.2.1"],
        ] {
            for mode in ["disable", "prefer", "require"] {
                let warning = FeedSettings.weakness(of: place.merging(["sslmode": mode]) { $1 })
                #expect(warning?.contains("with sslmode=\(mode) others") == true)
            }
        }
    }
}

import ArgumentParser
import Testing

@testable import repairminder_sync

@Suite struct FlagValuesTests {
    private func mistake(_ words: String...) -> String? { FlagValues.mistake(in: words) }

    @Test("a switch whose value is empty is not taken for one that is on")
    func emptySwitch() {
        #expect(
            mistake("run", "--listen.allow-remote=") == "--listen.allow-remote= has no value; expected true or false")
        for key in ConfigurationKey.switches { #expect(mistake("run", "--\(key.flag)=") != nil) }
        #expect(mistake("run", "--listen.allow-remote") == nil)
        #expect(mistake("run", "--listen.allow-remote=false") == nil)
    }

    @Test("an empty value is refused: the flag does not count as given, nor does the next word become its value")
    func empty() {
        #expect(mistake("init", "--from", "api.yaml", "--force=") == "--force= has no value")
        #expect(mistake("list", "orders", "--socket=", "status=ready") == "--socket= has no value")
        #expect(mistake("list", "orders", "notes=", "--socket=a=") == nil)
        #expect(mistake("delete", "orders", "--", "--socket=") == nil)
    }

    @Test(
        "an empty argument, as of a variable without a value, is named by the word before it; the body of api may be empty"
    )
    func emptyWord() {
        let advice = "is empty; if it is a variable of a script, give the variable a value"
        #expect(FlagValues.emptyWord(in: ["queue", "retry", ""]) == "the argument after retry \(advice)")
        #expect(FlagValues.emptyWord(in: ["get", "orders", "--json", "--", ""]) == "the argument after -- \(advice)")
        #expect(
            FlagValues.emptyWord(in: ["backup", "a.db", "--config", ""]) == "the argument after --config \(advice)")
        #expect(FlagValues.emptyWord(in: [""]) == "the first argument \(advice)")
        #expect(FlagValues.emptyWord(in: ["api", "POST", "/v1/sync", "-d", ""]) == nil)
        #expect(FlagValues.emptyWord(in: ["set", "orders", "a", "notes="]) == nil)
        #expect(FlagValues.emptyWord(in: []) == nil)
    }

    @Test("every switch can stand without a value", arguments: ConfigurationKey.switches)
    func switches(key: ConfigurationKey) throws {
        let command = try RepairminderSync.parseAsRoot(["check-config", "--\(key.flag)"]) as? CheckConfigCommand
        #expect(command != nil)
    }

    @Test("--wait with seconds that are not a number is refused, and does not wait for ten")
    func wait() {
        #expect(mistake("set", "orders", "a", "b=c", "--wait=soon") == "--wait takes 1 to 60 seconds")
        #expect(mistake("create", "orders", "--wait=") == "--wait takes 1 to 60 seconds")
        #expect(mistake("set", "orders", "a", "b=c", "--wait=5") == nil)
        #expect(mistake("set", "orders", "a", "--wait", "b=c") == nil)
        #expect(mistake("set", "orders", "--", "--wait=soon", "b=c") == nil)
        #expect(mistake("sync", "--wait=soon") == nil)
    }
}

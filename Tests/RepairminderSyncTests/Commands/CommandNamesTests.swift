import Testing

@testable import repairminder_sync

@Suite struct CommandNamesTests {
    private func mistake(_ words: String...) -> String? { CommandNames.mistake(in: words, of: RepairminderSync.self) }

    @Test("a mistyped command is named with the likely one")
    func mistyped() {
        #expect(mistake("statsu") == "there is no command statsu; did you mean status?")
        #expect(mistake("xyzzy") == "there is no command xyzzy; repairminder-sync --help lists them")
        let language = "there is no command generate rust; repairminder-sync generate --help lists them"
        #expect(mistake("generate", "rust") == language)
        #expect(mistake("queue", "retri", "4") == "there is no command queue retri; did you mean queue retry?")
        #expect(mistake("queue", "retyr", "all") == "there is no command queue retyr; did you mean queue retry?")
    }

    @Test("a word behind queue that is neither a command nor the id of a change is no command")
    func otherWord() {
        #expect(mistake("queue", "ls") == "there is no command queue ls; repairminder-sync queue --help lists them")
        #expect(mistake("queue", "#4") == nil)
    }

    @Test("flags between queue and its second word are to be written after it")
    func lateWord() {
        func said(_ words: String...) -> String? { CommandNames.lateWord(in: words, of: RepairminderSync.self) }
        #expect(said("queue", "--address", "localhost:7679", "retry", "4") == "write queue retry before the flags")
        #expect(said("queue", "--json", "discard", "4") == "write queue discard before the flags")
        #expect(said("queue", "retry", "--json", "4") == nil)
        #expect(said("queue", "--config", "retry") == nil)
        #expect(said("--config", "queue", "queue", "retry", "4") == nil)
        #expect(said("queue", "--json", "4") == nil && said("queue", "--record", "retry") == nil)
        #expect(said("queue") == nil)
        #expect(said("list", "--json", "orders") == nil)
    }

    @Test("a mistyped command after help is named too, and help behind a command is written as a flag")
    func help() {
        #expect(mistake("help", "lst") == "there is no command lst; did you mean list?")
        #expect(mistake("queue", "help") == "for help write repairminder-sync queue --help")
    }

    @Test("flags before a mistyped command change nothing")
    func flags() {
        let shown = "there is no command queue shw; did you mean queue show?"
        #expect(mistake("queue", "--json", "shw") == shown)
        #expect(mistake("queue", "--wide", "--config", "show.yaml", "shw") == shown)
        #expect(mistake("queue", "--config", "retri") == nil)
        #expect(mistake("queue", "--json", "4") == nil)
        #expect(mistake("queue", "--record", "shw") == nil)
    }

    @Test("an entity and an id in one word are to be written apart")
    func joined() {
        func said(_ words: String...) -> String? { CommandNames.joinedID(in: words) }
        let advice = "orders/1486 is no entity; to name one record, write"
        #expect(said("get", "orders/1486") == "\(advice) get orders 1486")
        #expect(said("set", "--config", "x/y.yaml", "orders/1486", "notes=x") == "\(advice) set orders 1486")
        #expect(said("list", "orders/1486") == "\(advice) get orders 1486")
        #expect(said("get", "orders", "a/b") == nil)
        #expect(said("get", "--config", "x/y.yaml", "orders", "7") == nil)
        #expect(said("export", "a/b") == nil)
    }

    @Test("commands, ids of changes, flags and help are left to the parser")
    func known() {
        #expect(mistake("status") == nil)
        #expect(mistake("queue", "4") == nil)
        #expect(mistake("queue", "retry", "all") == nil)
        #expect(mistake("list", "statsu") == nil)
        #expect(mistake("--version") == nil)
        #expect(mistake("help") == nil)
        #expect(mistake("help", "queue", "retry") == nil)
        #expect(mistake() == nil)
    }
}

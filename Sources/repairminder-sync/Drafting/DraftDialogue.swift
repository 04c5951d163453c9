import Glibc
import SchemaDraft

/// Asks about a draft, one question at a time, with the likely answer first.
struct DraftDialogue {
    let questions: Questions

    /// Throws unless a person is there to answer. What comes after the end of the input stays as it was guessed.
    func correct(_ drafter: inout SchemaDrafter) throws(CommandFailure) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(.usage, "--ask needs a terminal; leave it out, and edit the file instead")
        }
        var asked: [DraftQuestion] = []
        // Fewer lists leave fewer questions.
        while let question = drafter.questions.first(where: { question in !asked.contains { $0.text == question.text } }
        ) {
            asked.append(question)
            guard ask(question, &drafter) else { return }
        }
    }

    /// Asks again after an answer that cannot be used. False at the end of the input.
    private func ask(_ question: DraftQuestion, _ drafter: inout SchemaDrafter) -> Bool {
        while true {
            guard let answer = questions.answer(to: question.text, likely: question.likely, others: question.others)
            else { return false }
            do throws(SchemaDraftError) {
                try drafter.take(answer, to: question)
                return true
            } catch {
                StandardStream.error.write("\(error.message)\n")
            }
        }
    }
}

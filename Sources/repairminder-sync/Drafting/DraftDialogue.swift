import Glibc
import SchemaDraft

/// Asks about a draft, one question at a time, with the likely answer first.
struct DraftDialogue {
    let questions: Questions

    /// Throws unless a person is there to answer.
    func correct(_ drafter: inout SchemaDrafter) throws(CommandFailure) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(.usage, "--ask needs a terminal; leave it out, and edit the file instead")
        }
        var asked: [DraftQuestion] = []
        // Fewer lists leave fewer questions.
        while let question = drafter.questions.first(where: { question in !asked.contains { $0.text == question.text } }
        ) {
            asked.append(question)
            ask(question, &drafter)
        }
    }

    /// Asks again after an answer that cannot be used, and leaves the guess after the end of the input.
    private func ask(_ question: DraftQuestion, _ drafter: inout SchemaDrafter) {
        while true {
            guard let answer = questions.answer(to: question.text, likely: question.likely, others: question.others)
            else { return }
            do throws(SchemaDraftError) {
                return try drafter.take(answer, to: question)
            } catch {
                StandardStream.error.write("\(error.message)\n")
            }
        }
    }
}

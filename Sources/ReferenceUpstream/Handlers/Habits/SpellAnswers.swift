internal import EntitySchema
internal import JSONText

/// What is answered to everything for a while, by the upstream or by something in front of it.
struct SpellAnswers {
    private static let spells: [Habit] = [.blanket404, .blanket403, .signInPage, .html200, .html503]

    let state: HabitState
    let now: Timestamp

    /// Nil when no such spell is under way.
    func answer() -> Answer? {
        guard let spell = Self.spells.first(where: { occurrence(of: $0) != nil }) else { return nil }
        state.tally.note(spell)
        switch spell {
        case .blanket404: return .json(404, .object(["message": "no Route matched with those values"]))
        case .blanket403: return .json(403, .object(["message": "Forbidden"]))
        case .signInPage:
            var answer = Self.page(302, "Please sign in")
            answer.headers.append(("Location", "/login"))
            return answer
        case .html200: return Self.page(200, "We will be right back")
        default: return Self.page(503, "Down for maintenance")
        }
    }

    /// Which occurrence of a spell is under way; nil when none is.
    func occurrence(of habit: Habit) -> Int? { state.habits.spell(habit)?.occurrence(at: now.since(state.since)) }

    private static func page(_ status: Int, _ text: String) -> Answer {
        let page = "<!DOCTYPE html>\n<html><head><title>\(text)</title></head><body><h1>\(text)</h1></body></html>\n"
        return Answer(status: status, headers: [("Content-Type", "text/html; charset=utf-8")], body: Array(page.utf8))
    }
}

internal import EntitySchema
internal import GRDB

/// Compares one rule's reminders with the records that match it.
struct ReminderCheck {
    let schedule: ReminderSchedule
    let db: Database

    func run(_ found: inout Inconsistencies) throws {
        try add(schedule.missing, "has no reminder for the time that the rule \(schedule.rule.name) gives", &found)
        try add(schedule.unwanted, "has a reminder of the rule \(schedule.rule.name), which it does not match", &found)
    }

    private func add(_ sql: String, _ problem: String, _ found: inout Inconsistencies) throws {
        let keys = try String.fetchCursor(db.cachedStatement(sql: sql))
        while !found.isFull, let key = try keys.next() {
            found.add(.reminder, "\(schedule.rule.entity)/\(key)", problem)
        }
    }
}

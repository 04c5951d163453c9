import CacheStore
import EntitySchema
import LocalAPIServer

extension Configuration {
    /// The calendar of the dashboard and of reminders.
    var calendar: DashboardCalendar { dashboard.timeZone.flatMap(DashboardCalendar.init(timeZone:)) ?? .ofSystem }

    /// When reminders of dates without a time are due.
    var reminderDays: ReminderDays {
        let calendar = calendar
        let hour = reminders.hour
        return ReminderDays(name: "\(calendar.timeZone) \(hour)") { calendar.time(ofHour: hour, onDate: $0) }
    }

    /// All hooks: those that have a name in the configuration, and the one that delivers the schema's reminders.
    func hooks(for schema: EntitySchema) -> [HookSettings] {
        guard !schema.reminders.isEmpty, let recipient = reminders.recipient else { return hooks }
        return hooks + [HookSettings(rule: .reminders, recipient: recipient, deadline: reminders.deadline)]
    }
}

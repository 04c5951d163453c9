import CacheStore
import LocalAPIServer
import Logging
import SyncEngine
import Upstream

extension Configuration {
    /// The calendar of the dashboard and of reminders.
    var calendar: DashboardCalendar { dashboard.timeZone.flatMap(DashboardCalendar.init(timeZone:)) ?? .ofSystem }

    /// When reminders of dates without a time are due.
    var reminderDays: ReminderDays {
        let calendar = calendar
        let hour = reminders.hour
        return ReminderDays(name: "\(calendar.timeZone) \(hour)") { calendar.time(ofHour: hour, onDate: $0) }
    }

    /// How reminders are delivered; nil when they are not.
    func reminderDelivery(
        environment: [String: String], clock: any Clock<Duration>, log: Logger,
        transport: @autoclosure () throws -> any HTTPTransport
    ) throws -> ReminderKeeper.Delivery? {
        switch reminders.recipient {
        case nil: return nil
        case .command(let words):
            let command = ReminderCommand(
                words: words, environment: ReminderCommand.passedOn(environment), limit: reminders.deadline,
                clock: clock
            ) { line in
                log.info("the program for reminders wrote", metadata: ["line": "\(line)"])
            }
            return { try await command.run(for: $0) }
        case .webhook(let url):
            let webhook = ReminderWebhook(url: url, limit: reminders.deadline, transport: try transport())
            return { try await webhook.send($0) }
        }
    }
}

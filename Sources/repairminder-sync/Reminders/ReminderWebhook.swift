import CacheStore
import JSONText
import Upstream

/// Posts each reminder as JSON to a URL on this machine. Any status from 200 to 299 is success; redirects are not
/// followed.
struct ReminderWebhook: Sendable {
    let url: String
    let limit: Duration
    let transport: any HTTPTransport

    func send(_ reminder: Reminder) async throws {
        let request = HTTPRequest(
            method: "POST", url: url, headers: [HTTPHeader("Content-Type", "application/json")],
            body: Array(reminder.document.bytes), deadline: limit)
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(request)
        } catch {
            throw ReminderFailure(
                message: "\(url) did not accept the reminder (\(error.reason)); check reminders.webhook")
        }
        guard (200...299).contains(response.status) else {
            throw ReminderFailure(message: "\(url) returned status \(response.status)")
        }
    }
}

/// Why a delivery failed; shown in the log and in the reminder.
struct ReminderFailure: Error, CustomStringConvertible {
    var message: String

    var description: String { message }
}

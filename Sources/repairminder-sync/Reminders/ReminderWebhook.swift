import CacheStore
import JSONText
import Upstream

/// Sends each reminder as JSON to a program that listens on this machine. Any answer of 200 to 299 is success; redirects
/// are not followed.
struct ReminderWebhook: Sendable {
    let url: String
    let limit: Duration
    let transport: any HTTPTransport

    func send(_ reminder: Reminder) async throws {
        let request = HTTPRequest(
            method: "POST", url: url, headers: [HTTPHeader("Content-Type", "application/json")],
            body: Array(reminder.document.bytes), deadline: limit)
        let response: HTTPResponse
        do {
            response = try await transport.send(request)
        } catch {
            throw ReminderFailure(message: "\(url) cannot be reached (\(error)); check reminders.webhook")
        }
        guard (200...299).contains(response.status) else {
            throw ReminderFailure(message: "\(url) answered \(response.status)")
        }
    }
}

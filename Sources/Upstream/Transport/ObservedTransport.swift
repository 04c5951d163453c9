/// Passes requests on and reports how each ended.
package struct ObservedTransport: HTTPTransport {
    private let inner: any HTTPTransport
    private let note: @Sendable (_ status: Int?) -> Void

    /// `note` gets the status of each response, and nil for a request without a complete one. Cancelled requests are left
    /// out.
    package init(_ inner: any HTTPTransport, note: @escaping @Sendable (_ status: Int?) -> Void) {
        self.inner = inner
        self.note = note
    }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        do throws(TransportError) {
            let response = try await inner.send(request)
            note(response.status)
            return response
        } catch {
            if error != .cancelled { note(nil) }
            throw error
        }
    }

    package func networkChanged() { inner.networkChanged() }
}

/// How many requests an upstream takes, if its schema says so.
package struct RequestLimits: Sendable, Equatable {
    /// At most this many requests in any span of this length.
    package struct Window: Sendable, Equatable {
        package var requests: Int
        package var span: Duration

        package init(requests: Int, span: Duration) {
            self.requests = requests
            self.span = span
        }
    }

    package var windows: [Window]
    /// The most requests at a time; nil for no limit but the daemon's own.
    package var parallel: Int?
    /// The headers in which each answer says how many requests are left, and until when.
    package var remainingHeader: String?
    package var resetHeader: String?

    /// No more may be set, here or in the configuration.
    package static let mostParallel = 32

    package init(
        windows: [Window] = [], parallel: Int? = nil, remainingHeader: String? = nil, resetHeader: String? = nil
    ) {
        self.windows = windows
        self.parallel = parallel
        self.remainingHeader = remainingHeader
        self.resetHeader = resetHeader
    }
}

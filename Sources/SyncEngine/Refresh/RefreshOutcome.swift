/// What came of asking the upstream for one record, sorted by what a caller is told.
package enum RefreshOutcome: Sendable, Equatable {
    /// The cache has the record as the upstream has it now.
    case stored
    /// The upstream has no such record, and neither has the cache any more.
    case absent
    /// Nothing was asked: the record was made or deleted here, and the upstream does not know yet.
    case local
    /// The upstream does not serve such a record by itself.
    case unsupported
    /// It cannot be asked now, or what it answered cannot be used; the text says why.
    case unavailable(String)
    /// It answered with a failure of its own.
    case failed(String)
    /// It did not answer in time; when it does the cache will have the record.
    case timedOut
    /// Too many records are being asked for.
    case busy
}

/// The largest error that an offset can have after exchanges of these lengths.
///
/// It relies only on what `ServerClock` documents: samples have whole seconds and are taken somewhere within the
/// exchange; a difference of up to five seconds counts as noise and is smoothed; a larger one that the exchanges so far
/// explain is accepted at once.
struct ClockCheck {
    /// Nil before the first answer.
    private(set) var uncertainty: Duration?

    mutating func observe(exchange: Duration) {
        let sample = .milliseconds(510) + exchange / 2
        guard let before = uncertainty else {
            uncertainty = sample
            return
        }
        let noise = .seconds(5) + exchange / 2 + sample
        if exchange <= .seconds(2) {
            uncertainty = max(sample, min(before, noise) * 0.8 + sample * 0.2)
        } else if before > .milliseconds(4400) {
            // The error may be large enough for an inaccurate sample to replace the offset.
            uncertainty = max(before, sample)
        }
    }
}

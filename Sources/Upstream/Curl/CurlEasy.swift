internal import CCurl

/// Owns one libcurl easy handle with everything it points to, and sets its options by type.
///
/// Used on one thread only. Setters throw `.unreachable` when this libcurl lacks the option: nothing was sent yet.
struct CurlEasy: ~Copyable {
    let handle: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerLines: UnsafeMutablePointer<curl_slist>?

    init() throws(TransportError) {
        guard let handle = curl_easy_init() else { throw .unreachable("libcurl has no memory for another request") }
        self.handle = handle
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headerLines)
        errorText.deallocate()
    }

    func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try check(ccurl_set_long(handle, option, value), option)
    }

    func set(_ option: CURLoption, size: Int) throws(TransportError) {
        try check(ccurl_set_off_t(handle, option, curl_off_t(size)), option)
    }

    /// libcurl copies the text; nil resets the option.
    func set(_ option: CURLoption, _ value: String?) throws(TransportError) {
        try check(ccurl_set_string(handle, option, value), option)
    }

    /// The pointee must live as long as this handle, unless the option copies it.
    func set(_ option: CURLoption, _ value: UnsafeRawPointer?) throws(TransportError) {
        try check(ccurl_set_pointer(handle, option, value), option)
    }

    func set(_ option: CURLoption, _ callback: @escaping curl_write_callback) throws(TransportError) {
        try check(ccurl_set_write_callback(handle, option, callback), option)
    }

    func setReader(_ callback: @escaping curl_read_callback) throws(TransportError) {
        try check(ccurl_set_read_callback(handle, callback), CURLOPT_READFUNCTION)
    }

    func setSocketOpener(_ callback: @escaping curl_opensocket_callback) throws(TransportError) {
        try check(ccurl_set_opensocket_callback(handle, callback), CURLOPT_OPENSOCKETFUNCTION)
    }

    func setSocketCloser(_ callback: @escaping curl_closesocket_callback) throws(TransportError) {
        try check(ccurl_set_closesocket_callback(handle, callback), CURLOPT_CLOSESOCKETFUNCTION)
    }

    func setBeforeRequest(_ callback: @escaping curl_prereq_callback) throws(TransportError) {
        try check(ccurl_set_prereq_callback(handle, callback), CURLOPT_PREREQFUNCTION)
    }

    func setProgress(_ callback: @escaping curl_xferinfo_callback) throws(TransportError) {
        try check(ccurl_set_progress_callback(handle, callback), CURLOPT_XFERINFOFUNCTION)
    }

    mutating func setHeaderLines(_ lines: [String]) throws(TransportError) {
        for line in lines {
            guard let longer = curl_slist_append(headerLines, line) else {
                throw .unreachable("libcurl has no memory for the headers of a request")
            }
            headerLines = longer
        }
        try check(ccurl_set_list(handle, CURLOPT_HTTPHEADER, headerLines), CURLOPT_HTTPHEADER)
    }

    var status: Int {
        var status = 0
        ccurl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        return status
    }

    /// This machine's address on the last connection; nil when there is no connection, or it has no address.
    var localAddress: String? {
        var text: UnsafeMutablePointer<CChar>?
        ccurl_get_string(handle, CURLINFO_LOCAL_IP, &text)
        return text.map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The response's Content-Length, of the encoded body; nil if there is none.
    var announcedLength: Int? {
        var length: curl_off_t = -1
        ccurl_get_off_t(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length)
        return length < 0 ? nil : Int(length)
    }

    /// How many bytes of an encoded body came.
    var receivedLength: Int {
        var length: curl_off_t = 0
        ccurl_get_off_t(handle, CURLINFO_SIZE_DOWNLOAD_T, &length)
        return Int(length)
    }

    /// libcurl's text about an error: its details if it gave any, else the general meaning of the code.
    func explanation(of code: CURLcode) -> String {
        errorText.pointee == 0 ? String(cString: curl_easy_strerror(code)) : String(cString: errorText)
    }

    private func check(_ code: CURLcode, _ option: CURLoption) throws(TransportError) {
        guard code != CURLE_OK else { return }
        let reason = String(cString: curl_easy_strerror(code))
        throw .unreachable("libcurl refuses option \(option.rawValue) (\(reason)): it must be 7.87 or newer")
    }
}

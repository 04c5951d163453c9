/// The words for the records of the sample shop.
enum ShopWords {
    struct Model: Sendable {
        var type: String
        var brand: String
        var model: String
    }

    /// Issue, diagnosis, resolution, and price in pence.
    struct Job: Sendable {
        var issue: String
        var diagnosis: String
        var resolution: String
        var price: ClosedRange<Int>
    }

    struct Person: Sendable {
        var id: String
        var name: String
    }

    static let firstNames = [
        "Aisha", "Alan", "Beth", "Callum", "Chloë", "Daniel", "Dilys", "Ewan", "Fatima", "Grace", "Hamish", "Imogen",
        "Ivan", "Jack", "José", "Kezia", "Leah", "Liam", "Mei", "Mohammed", "Niamh", "Oliver", "Priya", "Rhys", "Rosa",
        "Seán", "Sofia", "Tomasz", "Uzma", "Victor", "Wendy", "Yusuf", "Zoë",
    ]

    static let lastNames = [
        "Ahmed", "Baker", "Campbell", "Davies", "Evans", "Fraser", "García", "Hughes", "Ibrahim", "Jones", "Kowalski",
        "Lewis", "MacDonald", "Müller", "Nguyen", "O'Brien", "Patel", "Quinn", "Roberts", "Singh", "Taylor", "Usman",
        "Vaughan", "Walker", "Young", "Żak",
    ]

    static let companies = [
        "Harbour Café", "Lowther & Sons", "Northgate Primary School", "Pixel Print Ltd", "Tyne Taxis",
    ]

    static let streets = ["Bridge Street", "Castle Road", "Church Lane", "High Street", "Mill Road", "Station Road"]

    static let cities = [
        (name: "Leeds", area: "LS"), (name: "Cardiff", area: "CF"), (name: "Glasgow", area: "G"),
        (name: "Bristol", area: "BS"), (name: "York", area: "YO"),
    ]

    static let locations = [
        Person(id: "loc_main", name: "Main Street"), Person(id: "loc_station", name: "Station Kiosk"),
    ]

    static let staff = [
        Person(id: "usr_anna", name: "Anna Price"), Person(id: "usr_ben", name: "Ben Okafor"),
        Person(id: "usr_cat", name: "Cat Molloy"), Person(id: "usr_dev", name: "Dev Shah"),
    ]

    static let models = [
        Model(type: "Phone", brand: "Apple", model: "iPhone 13"),
        Model(type: "Phone", brand: "Apple", model: "iPhone SE"),
        Model(type: "Phone", brand: "Samsung", model: "Galaxy S22"),
        Model(type: "Phone", brand: "Google", model: "Pixel 7"),
        Model(type: "Laptop", brand: "Apple", model: "MacBook Air M1"),
        Model(type: "Laptop", brand: "Lenovo", model: "ThinkPad T480"),
        Model(type: "Laptop", brand: "Dell", model: "XPS 13"), Model(type: "Tablet", brand: "Apple", model: "iPad 9"),
        Model(type: "Console", brand: "Nintendo", model: "Switch"), Model(type: "Console", brand: "Sony", model: "PS5"),
    ]

    static let jobs = [
        Job(
            issue: "Screen cracked", diagnosis: "Display assembly broken", resolution: "Display replaced",
            price: 6900...24900),
        Job(
            issue: "Battery lasts two hours", diagnosis: "Battery at 61 % health", resolution: "Battery replaced",
            price: 3900...8990),
        Job(
            issue: "Does not charge", diagnosis: "Lint and corrosion in the port", resolution: "Port replaced",
            price: 3500...7995),
        Job(
            issue: "Spilt \"a bit\" of tea", diagnosis: "Corrosion around the power rail",
            resolution: "Board cleaned, two parts replaced", price: 8500...19950),
        Job(
            issue: "Very slow", diagnosis: "Drive failing", resolution: "Drive replaced, data moved",
            price: 7900...16900),
        Job(issue: "No sound", diagnosis: "Speaker torn", resolution: "Speaker replaced", price: 2900...5450),
    ]

    static let openStatuses = ["booked_in", "in_progress", "in_progress", "awaiting_parts", "ready"]

    static let closedStatuses = ["collected", "collected", "collected", "collected", "collected", "cancelled"]

    static let notes = [
        "Call before noon", "Left with case and charger", "Data must be kept", "Paid by card\nreceipt by email",
        "Back cover is scratched already",
    ]

    static let subjects = [
        "Is it ready?", "Quote for a repair", "Problem after repair", "Opening hours", "Invoice please",
    ]

    static let questions = [
        "Hello, how is it going with my repair?", "Could you tell me what it will cost?", "When can I collect it?",
        "It has happened again, what now?", "Thank you!",
    ]

    static let replies = [
        "We are waiting for the part, it should be here on Thursday.", "It is ready, you can collect it until 18:00.",
        "The quote is in your inbox.", "Please bring it in and we will have a look.",
    ]

    static let remarks = ["Customer called twice", "Check the warranty first", "Offer 10 % off next time"]
}

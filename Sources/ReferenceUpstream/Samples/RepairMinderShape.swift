/// How the real Repair Minder differs from what its schema says.
extension UpstreamShape {
    package static let repairMinder = {
        var shape = UpstreamShape()
        shape.onlySingle = [
            "clients": [
                "notes", "address_line_1", "address_line_2", "city", "county", "postcode", "country", "updated_at",
                "client_group", "deleted_at", "social_facebook", "social_instagram", "social_twitter",
                "social_linkedin",
                "social_tiktok", "social_youtube", "social_pinterest", "social_whatsapp", "social_snapchat",
                "social_threads",
            ],
            "orders": [
                "authorisation_type", "authorisation_amount", "authorisation_notes", "carrier", "tracking_number",
                "portal_access_disabled", "portal_access_expires_at", "totals", "dates",
            ],
            "devices": [
                "custom_brand", "custom_model", "brand", "model", "storage_capacity", "passcode", "passcode_type",
                "find_my_status", "condition_grade", "priority", "customer_reported_issues", "technician_found_issues",
                "additional_issues_found", "condition_notes", "diagnosis_notes", "repair_notes", "technician_notes",
                "authorization_notes", "diagnosis_conclusion", "visual_check", "electrical_check", "mechanical_check",
                "damage_matches_reported", "data_backup_offered", "data_backup_accepted", "data_backup_completed",
                "factory_reset_required", "factory_reset_completed", "is_under_warranty", "warranty_provider",
                "warranty_expiry_date", "insurance_claim", "insurance_reference", "timestamps", "updated_at",
            ],
            "tickets": ["merged_into_ticket_id"],
        ]
        shape.hidden = [
            "orders": [
                "no_email", "client_country_code", "address_line_1", "address_line_2", "city", "county", "postcode",
                "country", "ready_by", "existing_ticket_id", "note", "pre_authorization", "signature",
            ],
            "order_items": ["order_id", "price_inc_vat", "is_warranty_item", "warranty_notes", "product_type_id"],
            "order_payments": ["order_id"], "order_refunds": ["order_id"], "order_signatures": ["order_id"],
            "devices": ["status_notes", "new_accessories"], "device_images": ["device_id"],
            "device_parts": ["device_id"], "device_accessories": ["device_id"],
            "buyback_images": ["buyback_id"],
            "macro_executions": ["variable_overrides", "send_sms", "scheduling_option"],
            "ticket_messages": ["ticket_id", "send_sms", "from_custom_email_id"],
        ]
        shape.onlyList = [
            "clients": ["is_generated_email"], "orders": ["notes"],
            "devices": [
                "order_number", "source", "notes", "ticket_id", "client_first_name", "client_last_name", "location_id",
            ],
            "tickets": ["last_client_update", "notes"],
        ]
        shape.moved = [
            "clients": [
                "ticket_count", "order_count", "device_count", "total_spend", "average_spend", "last_contact_received",
                "last_contact_sent",
            ],
            "orders": ["order_total", "amount_paid", "balance_due", "created_at", "updated_at"],
            "devices": ["received_at"],
        ]
        shape.calls = [
            "POST /api/orders": Call(
                required: [["client_first_name"], ["client_email", "no_email"], ["intake_method"], ["signature"]],
                answer: [("id", "id"), ("order_number", "order_number"), ("ticket_id", "ticket_id")], books: true),
            "PATCH /api/orders/{id}": Call(),
            "POST /api/orders/{order_id}/items": Call(required: [["description"]]),
            "PATCH /api/orders/{order_id}/items/{id}": Call(),
            "POST /api/orders/{order_id}/payments": Call(required: [["amount"], ["payment_method"]]),
            "POST /api/orders/{order_id}/devices": Call(
                required: [["brand_id", "custom_brand"]], alsoKnown: ["accessories"], answer: [("id", "id")]),
            "PATCH /api/orders/{order_id}/devices/{id}": Call(),
            "PATCH /api/orders/{order_id}/devices/{id}/status": Call(
                required: [["status"]], alsoKnown: ["context", "notes"]),
            "POST /api/orders/{device.order_id}/devices/{device_id}/parts": Call(required: [["part_name"]]),
            "POST /api/orders/{device.order_id}/devices/{device_id}/accessories": Call(required: [["accessory_type"]]),
            "POST /api/orders/{device.order_id}/devices/{device_id}/images": Call(required: [["image_type"]]),
            "PATCH /api/orders/{device.order_id}/devices/{device_id}/images/{id}": Call(),
            "POST /api/clients": Call(required: [["email"]], unique: "email"),
            "PATCH /api/clients/{id}": Call(),
            "PATCH /api/tickets/{id}": Call(),
            "POST /api/tickets/{id}/reassign": Call(required: [["assigned_user_id"]]),
            "POST /api/tickets/{ticket_id}/reply": Call(
                required: [["html_body"]], alsoKnown: ["pending_attachment_ids", "status"],
                answer: [
                    ("message_id", "id"), ("type", "type"), ("body_text", "body_text"), ("created_at", "created_at"),
                ]),
            "POST /api/tickets/{ticket_id}/macro": Call(required: [["macro_id"]]),
            "POST /api/tickets/{ticket_id}/note": Call(
                required: [["body"]],
                answer: [
                    ("id", "id"), ("type", "type"), ("body", "body_text"), ("device_id", "device_id"),
                    ("created_at", "created_at"),
                ]),
        ]
        return shape
    }()
}

//! What a client says about itself and its connection: OPTIONS, STARTUP, AUTH_RESPONSE, REGISTER.
//! Answered at once, on the spot. Statements are `requests.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use basalt_model::CqlError;
use basalt_query::system_tables::facts::CQL_VERSION;
use basalt_wire::request::{AuthResponse, EventType, Register, Startup};
use basalt_wire::response::{AuthChallenge, AuthSuccess, Authenticate, Supported};
use basalt_wire::{ProtocolVersion, Request, Response};

use crate::auth::{Authenticator, Negotiation, Step};
use crate::clients::{Client, Stage};

/// The conversation with one client.
pub struct Handshake {
    client: Arc<Client>,
    authenticator: Arc<dyn Authenticator>,
    negotiation: Option<Box<dyn Negotiation>>,
    /// The role that logged in.
    pub role: Option<Arc<str>>,
}

impl Handshake {
    /// With a client that just connected.
    pub fn new(client: Arc<Client>, authenticator: Arc<dyn Authenticator>) -> Handshake {
        Handshake { client, authenticator, negotiation: None, role: None }
    }

    /// The answer to a request of this kind; `None` for others.
    pub fn answer(&mut self, request: &Request, version: ProtocolVersion) -> Option<Response> {
        match request {
            Request::Options => Some(Response::Supported(Supported::of_server(CQL_VERSION))),
            Request::Startup(startup) => Some(self.startup(startup, version)),
            Request::AuthResponse(response) => Some(self.auth_response(response)),
            Request::Register(register) => Some(self.register(register, version)),
            Request::Query(_) | Request::Prepare(_) | Request::Execute(_) | Request::Batch(_) => None,
        }
    }

    /// The wire has checked the options already.
    fn startup(&mut self, startup: &Startup, version: ProtocolVersion) -> Response {
        let options: BTreeMap<String, String> = startup.options.iter().cloned().collect();
        self.client.started(version.number(), options);
        match self.authenticator.class_name() {
            None => {
                self.client.set_stage(Stage::Ready);
                Response::Ready
            }
            Some(class) => {
                self.client.set_stage(Stage::Authenticating);
                Response::Authenticate(Authenticate { authenticator: class.to_owned() })
            }
        }
    }

    fn auth_response(&mut self, response: &AuthResponse) -> Response {
        let negotiation = self.negotiation.get_or_insert_with(|| self.authenticator.begin());
        match negotiation.step(&response.token) {
            Ok(Step::Challenge(token)) => Response::AuthChallenge(AuthChallenge { token }),
            Ok(Step::Done(role)) => {
                self.client.set_role(Some(Arc::clone(&role)));
                self.client.set_stage(Stage::Ready);
                self.role = Some(role);
                self.negotiation = None;
                Response::AuthSuccess(AuthSuccess { token: None })
            }
            Err(error) => {
                self.negotiation = None;
                Response::Error(error)
            }
        }
    }

    /// One node alone has no topology and no other's status to tell of: only schema changes come.
    fn register(&mut self, register: &Register, version: ProtocolVersion) -> Response {
        for event in &register.events {
            match event {
                EventType::TraceComplete if version < ProtocolVersion::V4 => {
                    return Response::Error(CqlError::protocol(format!(
                        "Event {} not valid for protocol version {version}",
                        event.name()
                    )));
                }
                EventType::SchemaChange => self.client.register_schema_changes(),
                EventType::TopologyChange | EventType::StatusChange | EventType::TraceComplete => {}
            }
        }
        Response::Ready
    }
}

//! TLS: whom a server's certificate must come from. Knows no bytes of it; `rustls` does.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// How connections are encrypted, and who may answer them.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    /// Names that nodes were given by; others go by their addresses.
    names: BTreeMap<SocketAddr, ServerName<'static>>,
}

impl Tls {
    /// Servers must show a certificate of one of the authorities in this file (PEM), for the name or the address that they
    /// are reached by.
    ///
    /// # Errors
    /// When the file cannot be read or holds no certificate; in words for the user.
    pub fn trusting(authorities: &Path) -> Result<Tls, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", authorities.display());
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(authorities).map_err(|error| wrong(&error))? {
            let certificate = certificate.map_err(|error| wrong(&error))?;
            roots.add(certificate).map_err(|error| wrong(&error))?;
        }
        if roots.is_empty() {
            return Err(wrong(&"no certificate in it"));
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(&error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Tls { config: Arc::new(config), names: BTreeMap::new() })
    }

    /// Whoever answers is believed: what is sent cannot be read on the way, and may go to anyone.
    ///
    /// # Errors
    /// In words for the user.
    pub fn trusting_anyone() -> Result<Tls, String> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone(provider)))
            .with_no_client_auth();
        Ok(Tls { config: Arc::new(config), names: BTreeMap::new() })
    }

    /// The node at this address goes by a name; one that is an address is none.
    pub fn name(&mut self, address: SocketAddr, name: &str) {
        if let Ok(name @ ServerName::DnsName(_)) = ServerName::try_from(name.to_owned()) {
            self.names.insert(address, name);
        }
    }

    /// The state of a new connection to a node.
    pub(super) fn begin(&self, address: SocketAddr) -> io::Result<ClientConnection> {
        let name = self.names.get(&address).cloned();
        let name = name.unwrap_or_else(|| ServerName::IpAddress(address.ip().into()));
        ClientConnection::new(Arc::clone(&self.config), name).map_err(io::Error::other)
    }
}

/// Believes every certificate, not every signature: who shows one must have its key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
pub(crate) mod tests;

import { createToken } from '../../rpc/handshake/create-token.ts';
import { isLoopback, LOCAL_RELAY } from '../lend/lend-address.ts';

/** A relay that this browser knows. */
export interface KnownRelay {
  readonly url: string;
  /** The relay's credential. It admits nobody to a connection; each move has a token of its own. */
  readonly auth: string;
}

const STORE = 'weft-relay';
/** Where the documentation puts a relay behind a server that speaks TLS. */
const PROXIED_PATH = '/weft-rpc/';

/** The relay of the last move; else that of this machine, or of this site where it is another machine. */
export function knownRelay(page: string): KnownRelay {
  const usual = isLoopback(page) ? LOCAL_RELAY : `wss://${new URL(page).host}${PROXIED_PATH}`;
  return { url: usual, auth: createToken(), ...kept() };
}

export function keepRelay(relay: KnownRelay): void {
  try {
    localStorage.setItem(STORE, JSON.stringify(relay));
  } catch {
    // Where nothing can be kept, the next move asks for another credential.
  }
}

function kept(): Partial<KnownRelay> {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? '{}') as Partial<KnownRelay>;
  } catch {
    return {};
  }
}

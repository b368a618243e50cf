import { UsageError } from '../../core/errors.ts';

/** Under this name devices announce themselves as services. */
export const SERVICE_NAME = 'weft-device';
export const SERVICE_VERSION = '1.0.0';
/** The group of devices that were given no other. */
export const DEFAULT_GROUP = 'any';

const GROUP = /^[\w-]{1,64}$/;
const ID = /^\w{1,64}$/;
/** An address for answers; no wildcard, and nothing that somebody else listens to. */
const INBOX = /^_INBOX[\w-]{0,64}(\.[\w-]{1,64}){1,4}$/;

/** Where one device of a group opens a connection: the broker chooses which. */
export function groupSubject(group: string): string {
  if (GROUP.test(group)) return `weft.rpc.group.${group}`;
  throw new UsageError({
    where: 'group of devices',
    got: JSON.stringify(group),
    expected: '1 to 64 letters, digits, dashes or underscores',
  });
}

/** The subject on which the device of this service id opens connections. */
export function deviceSubject(id: string): string {
  return `weft.rpc.device.${id}`;
}

export function isServiceId(id: unknown): id is string {
  return typeof id === 'string' && ID.test(id);
}

export function isInbox(subject: unknown): subject is string {
  return typeof subject === 'string' && INBOX.test(subject);
}

const DAY_28 = '(?:0[1-9]|1[0-9]|2[0-8])';
const MONTH_DAY = `(?:(?:0[1-9]|1[0-2])-${DAY_28}|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)`;
/** Divisible by 4, but not by 100 unless by 400. */
const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
const DATE = `(?:[0-9]{4}-${MONTH_DAY}|${LEAP_YEAR}-02-29)`;
const CLOCK = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';
const TIME = `${CLOCK}:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-]${CLOCK})`;
const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';

/** Formats of strings in a JSON schema, as regular expressions. */
export const STRING_FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  'date-time': `${DATE}T${TIME}`,
  uuid: '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}',
  email: `${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})+`,
  ipv4: `${OCTET}(?:\\.${OCTET}){3}`,
};

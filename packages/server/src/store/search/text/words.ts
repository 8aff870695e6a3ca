/** English word lists for `terms.ts`: stop words, and irregular forms with their base. */

const list = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter((word) => word !== "")

/** Articles, pronouns, prepositions, auxiliaries and question words. */
export const stopWords: ReadonlySet<string> = new Set(
  list(`
    a an the this that these those
    i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs
    who whom whose which what when where why how
    am is are was were be been being do does did doing done have has had having
    will would shall should can could might must
    of at by for with about against between into through during before after above below to from up down in out on off
    over under again further then once here there all any both each few more most other some such
    no nor not only own same so than too very just also as if or and but because while until
    s t don
  `),
)

const forms = `
  arise arose arisen|awake awoke awoken|bear bore borne|beat beaten|become became|begin began begun|bend bent|bet|bind bound
  bite bit bitten|bleed bled|blow blew blown|break broke broken|bring brought|build built|burn burnt|buy bought
  catch caught|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt
  drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found
  flee fled|fling flung|fly flew flown|forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven
  freeze froze frozen|get got gotten|give gave given|go goes went gone going|grind ground|grow grew grown|hang hung|hear heard
  hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt
  leave left leaf|lend lent|lie lain lied lying|light lit|lose lost|make made|mean meant|meet met|mistake mistook mistaken|pay paid
  prove proven|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold
  send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung
  sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent|spin spun|spring sprang sprung
  stand stood|steal stole stolen|stick stuck|sting stung|strike struck|strive strove striven|swear swore sworn
  sweep swept|swell swollen|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told
  think thought|throw threw thrown|understand understood|wake woke woken|wear wore worn|weave wove woven|weep wept
  win won|wind wound|write wrote written
  age aged aging|die died dying|dye dyed|ice iced|owe owed owing|tie tied tying|use used using
  breed bred|dwell dwelt|smell smelt|sneak snuck|speed sped|spell spelt|spill spilt|spoil spoilt|stride strode
  tread trod trodden|wring wrung|foresee foresaw foreseen|mislead misled|misunderstand misunderstood|outgrow outgrew outgrown
  overcome overcame|oversee oversaw overseen|oversleep overslept|overtake overtook overtaken|rebuild rebuilt|repay repaid
  rewrite rewrote rewritten|undergo underwent undergone|undertake undertook undertaken|withdraw withdrew withdrawn
  withhold withheld|comply complied complying|multiply multiplied multiplying|supply supplied supplying
  panic panicked panicking|picnic picnicked picnicking|quiz quizzes|ski skied skis
  child children|man men|woman women|person people|foot feet|tooth teeth|goose geese|mouse mice|wife wives
  knife knives|half halves|shelf shelves|wolf wolves|thief thieves|loaf loaves|calf calves
  scarf scarves|self selves|analysis analyses|crisis crises|thesis theses|hypothesis hypotheses|lens lenses
  catalog catalogue|gray grey|program programme
  good better best|bad worse worst|far further furthest
`

/** In order: the first is number 1. */
export const months: ReadonlyArray<string> = list(
  "january february march april may june july august september october november december",
)

export const shortMonths: ReadonlyMap<string, string> = new Map([
  ...months.filter((month) => month.length > 3).map((month) => [month.slice(0, 3), month] as const),
  ["sept", "september"],
])

export const baseForms: ReadonlyMap<string, string> = new Map(
  forms
    .split(/[|\n]/)
    .map(list)
    .flatMap(([base, ...others]) => others.map((form) => [form, base!] as const)),
)

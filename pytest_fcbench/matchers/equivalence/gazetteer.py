"""Places by their names: countries, states, well-known cities and airports.

A small table of our own, for what can be known without asking: country codes (ISO 3166), the states of four
countries, names of large cities in other languages, IATA codes of large airports. A name that many places
share stands here only for the one that everybody means, and not at all where nobody can say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from pytest_fcbench.matchers.equivalence.words import Words, words

_COUNTRIES = """
AD Andorra; AE United Arab Emirates, UAE, Emirates; AF Afghanistan; AG Antigua and Barbuda; AL Albania; AM
Armenia; AO Angola; AR Argentina; AT Austria, Österreich; AU Australia; AZ Azerbaijan; BA Bosnia and
Herzegovina, Bosnia; BB Barbados; BD Bangladesh; BE Belgium, België, Belgique; BF Burkina Faso; BG
Bulgaria; BH Bahrain; BI Burundi; BJ Benin; BN Brunei; BO Bolivia; BR Brazil, Brasil; BS Bahamas; BT
Bhutan; BW Botswana; BY Belarus; BZ Belize; CA Canada; CD Democratic Republic of the Congo, DR Congo; CF
Central African Republic; CG Republic of the Congo; CH Switzerland, Schweiz, Suisse, Svizzera; CI Ivory
Coast, Côte d'Ivoire; CL Chile; CM Cameroon; CN China, PRC, People's Republic of China, 中国; CO Colombia;
CR Costa Rica; CU Cuba; CV Cape Verde, Cabo Verde; CY Cyprus; CZ Czech Republic, Czechia, Česko; DE
Germany, Deutschland; DJ Djibouti; DK Denmark, Danmark; DM Dominica; DO Dominican Republic; DZ Algeria; EC
Ecuador; EE Estonia, Eesti; EG Egypt; ER Eritrea; ES Spain, España; ET Ethiopia; FI Finland, Suomi; FJ
Fiji; FM Micronesia; FR France; GA Gabon; GB United Kingdom, UK, Great Britain, Britain; GD Grenada; GE
Georgia; GH Ghana; GM Gambia; GN Guinea; GQ Equatorial Guinea; GR Greece, Hellas; GT Guatemala; GW
Guinea-Bissau; GY Guyana; HK Hong Kong, HongKong; HN Honduras; HR Croatia, Hrvatska; HT Haiti; HU Hungary,
Magyarország; ID Indonesia; IE Ireland, Republic of Ireland; IL Israel; IN India; IQ Iraq; IR Iran; IS
Iceland, Ísland; IT Italy, Italia; JM Jamaica; JO Jordan; JP Japan, Nippon, 日本; KE Kenya; KG Kyrgyzstan;
KH Cambodia; KI Kiribati; KM Comoros; KN Saint Kitts and Nevis; KP North Korea; KR South Korea, Republic
of Korea, 대한민국, 한국; KW Kuwait; KZ Kazakhstan; LA Laos; LB Lebanon; LC Saint Lucia; LI Liechtenstein; LK
Sri Lanka; LR Liberia; LS Lesotho; LT Lithuania, Lietuva; LU Luxembourg; LV Latvia, Latvija; LY Libya; MA
Morocco, Maroc; MC Monaco; MD Moldova; ME Montenegro; MG Madagascar; MH Marshall Islands; MK North
Macedonia; ML Mali; MM Myanmar, Burma; MN Mongolia; MO Macau, Macao; MR Mauritania; MT Malta; MU
Mauritius; MV Maldives; MW Malawi; MX Mexico; MY Malaysia; MZ Mozambique; NA Namibia; NE Niger; NG
Nigeria; NI Nicaragua; NL Netherlands, Nederland, Holland; NO Norway, Norge; NP Nepal; NR Nauru; NZ New
Zealand; OM Oman; PA Panama; PE Peru; PG Papua New Guinea; PH Philippines; PK Pakistan; PL Poland, Polska;
PR Puerto Rico; PS Palestine; PT Portugal; PW Palau; PY Paraguay; QA Qatar; RO Romania; RS Serbia, Srbija;
RU Russia, Russian Federation, Россия; RW Rwanda; SA Saudi Arabia; SB Solomon Islands; SC Seychelles; SD
Sudan; SE Sweden, Sverige; SG Singapore; SI Slovenia; SK Slovakia; SL Sierra Leone; SM San Marino; SN
Senegal; SO Somalia; SR Suriname; SS South Sudan; ST Sao Tome and Principe; SV El Salvador; SY Syria; SZ
Eswatini, Swaziland; TD Chad; TG Togo; TH Thailand; TJ Tajikistan; TL Timor-Leste, East Timor; TM
Turkmenistan; TN Tunisia; TO Tonga; TR Turkey, Türkiye; TT Trinidad and Tobago; TV Tuvalu; TW Taiwan, 台灣;
TZ Tanzania; UA Ukraine, Україна; UG Uganda; US United States, United States of America, USA, U.S.; UY
Uruguay; UZ Uzbekistan; VA Vatican City, Vatican; VC Saint Vincent and the Grenadines; VE Venezuela; VN
Vietnam, Viet Nam; VU Vanuatu; WS Samoa; XK Kosovo; YE Yemen; ZA South Africa; ZM Zambia; ZW Zimbabwe
"""

_STATES = """
US-AL Alabama; US-AK Alaska; US-AZ Arizona; US-AR Arkansas; US-CA California; US-CO Colorado; US-CT
Connecticut; US-DE Delaware; US-DC District of Columbia; US-FL Florida; US-GA Georgia; US-HI Hawaii; US-ID
Idaho; US-IL Illinois; US-IN Indiana; US-IA Iowa; US-KS Kansas; US-KY Kentucky; US-LA Louisiana; US-ME
Maine; US-MD Maryland; US-MA Massachusetts; US-MI Michigan; US-MN Minnesota; US-MS Mississippi; US-MO
Missouri; US-MT Montana; US-NE Nebraska; US-NV Nevada; US-NH New Hampshire; US-NJ New Jersey; US-NM New
Mexico; US-NY New York; US-NC North Carolina; US-ND North Dakota; US-OH Ohio; US-OK Oklahoma; US-OR
Oregon; US-PA Pennsylvania; US-RI Rhode Island; US-SC South Carolina; US-SD South Dakota; US-TN Tennessee;
US-TX Texas; US-UT Utah; US-VT Vermont; US-VA Virginia; US-WA Washington, Washington State; US-WV West
Virginia; US-WI Wisconsin; US-WY Wyoming; CA-AB Alberta; CA-BC British Columbia; CA-MB Manitoba; CA-NB New
Brunswick; CA-NL Newfoundland and Labrador; CA-NS Nova Scotia; CA-NT Northwest Territories; CA-NU Nunavut;
CA-ON Ontario; CA-PE Prince Edward Island; CA-QC Quebec; CA-SK Saskatchewan; CA-YT Yukon; AU-ACT
Australian Capital Territory; AU-NSW New South Wales; AU-NT Northern Territory; AU-QLD Queensland; AU-SA
South Australia; AU-TAS Tasmania; AU-VIC Victoria; AU-WA Western Australia; GB-ENG England; GB-NIR
Northern Ireland; GB-SCT Scotland; GB-WLS Wales
"""

_CITIES = """
AE Dubai; AE Abu Dhabi; AR Buenos Aires; AT Vienna, Wien; AT Salzburg; AU-NSW Sydney; AU-VIC
Melbourne; AU-QLD Brisbane; AU-WA Perth; AU-SA Adelaide; AU-ACT Canberra; AU-TAS Hobart; BE
Brussels, Bruxelles, Brussel; BE Antwerp, Antwerpen, Anvers; BE Bruges, Brugge; BE Ghent, Gent; BG
Sofia; BR Sao Paulo; BR Rio de Janeiro; CA-ON Toronto; CA-ON Ottawa; CA-QC Montreal; CA-BC
Vancouver; CA-AB Calgary; CA-AB Edmonton; CA-MB Winnipeg; CH Zurich, Zuerich; CH Geneva, Genève,
Genf; CN Beijing, Peking, 北京; CN Shanghai, 上海; CN Guangzhou, 广州; CN Shenzhen, 深圳; CN Chengdu, 成都;
CN Chongqing, 重庆; CN Hangzhou, 杭州; CN Nanjing, Nanking, 南京; CN Wuhan, 武汉; CN Xi'an, 西安; CN
Tianjin, 天津; CO Bogota; CU Havana, La Habana; CZ Prague, Praha, Prag; DE Berlin; DE Munich,
München, Muenchen; DE Cologne, Köln, Koeln; DE Hamburg; DE Hanover, Hannover; DE Nuremberg,
Nürnberg, Nuernberg; DE Frankfurt, Frankfurt am Main; DE Düsseldorf, Duesseldorf; DE Stuttgart; DK
Copenhagen, København; DK Aarhus, Århus; EE Tallinn; EG Cairo; ES Madrid; ES Barcelona; ES
Seville, Sevilla; FI Helsinki, Helsingfors; FR Paris; FR Lyon, Lyons; FR Marseille, Marseilles;
GB-ENG London, Londres; GB-SCT Edinburgh; GB-SCT Glasgow; GB-ENG Liverpool; GB-NIR Belfast; GR
Athens, Athina, Αθήνα; GR Thessaloniki, Salonica; HK Hong Kong, HongKong, 香港; HR Zagreb; HU
Budapest; ID Jakarta; IE Dublin; IN Mumbai, Bombay; IN Kolkata, Calcutta; IN Chennai, Madras; IN
Bengaluru, Bangalore; IN New Delhi; IS Reykjavik; IT Rome, Roma; IT Milan, Milano; IT Florence,
Firenze; IT Venice, Venezia; IT Naples, Napoli; IT Turin, Torino; IT Genoa, Genova; JP Tokyo, 東京,
东京; JP Kyoto, 京都; JP Osaka, 大阪; JP Nagoya, 名古屋; JP Sapporo, 札幌; JP Fukuoka, 福岡;
JP Hiroshima, 広島; JP Yokohama, 横浜; KE Nairobi; KR Seoul, 서울; KR Busan, Pusan, 부산; LT Vilnius;
LV Riga; MX Mexico City, Ciudad de México, CDMX; MY Kuala Lumpur; NL Amsterdam; NL Rotterdam;
NL The Hague, Den Haag; NO Oslo; NO Bergen; NZ Auckland; NZ Wellington; NZ Christchurch; PE Lima; PH Manila;
PL Warsaw, Warszawa; PL Krakow, Kraków, Cracow; PT Lisbon, Lisboa; PT Porto, Oporto; QA Doha; RO Bucharest,
București; RS Belgrade, Beograd; RU Moscow, Moskva, Москва; RU Saint Petersburg, Sankt-Peterburg,
Санкт-Петербург; SE Stockholm; SE Gothenburg, Göteborg; SG Singapore; TH Bangkok, Krung Thep; TR
Istanbul; TR Ankara; TW Taipei, 台北; UA Kyiv, Kiev, Київ; US-NY New York, New York City, NYC; US-CA
Los Angeles; US-CA San Francisco; US-CA San Diego; US-IL Chicago; US-MA Boston; US-FL Miami; US-FL
Orlando; US-TX Houston; US-TX Dallas; US-TX Austin; US-TX San Antonio; US-WA Seattle; US-CO
Denver; US-GA Atlanta; US-NV Las Vegas; US-AZ Phoenix; US-PA Philadelphia; US-PA Pittsburgh; US-MI
Detroit; US-MN Minneapolis; US-LA New Orleans; US-DC Washington, Washington DC, Washington
District of Columbia; VN Hanoi; VN Ho Chi Minh City, Saigon; ZA Cape Town; ZA Johannesburg
"""

_AIRPORTS = """
AMS NL Amsterdam, Schiphol, Amsterdam Schiphol; ARN SE Arlanda, Stockholm Arlanda; ATH GR Eleftherios
Venizelos, Athens Eleftherios Venizelos; ATL US-GA Hartsfield-Jackson, Hartsfield-Jackson Atlanta; BCN ES
Barcelona El Prat, Josep Tarradellas Barcelona El Prat; BER DE Berlin Brandenburg, Berlin Brandenburg
Willy Brandt; BKK TH Suvarnabhumi, Bangkok Suvarnabhumi; BNE AU-QLD Brisbane; BOS US-MA Logan, Boston
Logan, General Edward Lawrence Logan; CAN CN Guangzhou Baiyun; CDG FR Charles de Gaulle, Paris Charles de
Gaulle, Roissy Charles de Gaulle; CGK ID Soekarno-Hatta, Jakarta Soekarno-Hatta; CIA IT Ciampino, Rome
Ciampino; CLT US-NC Charlotte Douglas; CPH DK Copenhagen, Copenhagen Kastrup; DEN US-CO Denver; DFW US-TX
Dallas Fort Worth; DXB AE Dubai; EWR US-NJ Newark Liberty; FCO IT Fiumicino, Rome Fiumicino, Leonardo da
Vinci, Leonardo da Vinci Fiumicino, Rome Leonardo da Vinci; FRA DE Frankfurt, Frankfurt am Main; GIG BR
Rio de Janeiro Galeao; GRU BR Sao Paulo Guarulhos; HKG HK Hong Kong, Chek Lap Kok; HND JP Haneda, Tokyo
Haneda; IAD US-VA Dulles, Washington Dulles; IAH US-TX George Bush Intercontinental, Houston George Bush
Intercontinental; ICN KR Incheon, Seoul Incheon; JFK US-NY John F Kennedy, New York John F Kennedy, John
Fitzgerald Kennedy, New York John Fitzgerald Kennedy, Idlewild; KIX JP Kansai, Osaka Kansai; KUL MY Kuala
Lumpur; LAS US-NV Harry Reid, McCarran; LAX US-CA Los Angeles; LGA US-NY LaGuardia, New York LaGuardia;
LGW GB-ENG Gatwick, London Gatwick; LHR GB-ENG Heathrow, London Heathrow; LIN IT Linate, Milan Linate; LTN
GB-ENG London Luton; MAD ES Adolfo Suarez Madrid Barajas, Madrid Barajas, Barajas; MAN GB-ENG Manchester;
MCO US-FL Orlando; MDW US-IL Midway, Chicago Midway; MEL AU-VIC Melbourne, Tullamarine; MEX MX Benito
Juarez, Mexico City Benito Juarez; MIA US-FL Miami; MSP US-MN Minneapolis Saint Paul; MUC DE Munich,
Munich Franz Josef Strauss; MXP IT Malpensa, Milan Malpensa; NRT JP Narita, Tokyo Narita; ORD US-IL
O'Hare, Chicago O'Hare; ORY FR Orly, Paris Orly; OSL NO Oslo Gardermoen, Gardermoen; OTP RO Henri Coanda,
Bucharest Henri Coanda; PEK CN Beijing Capital; PER AU-WA Perth; PHL US-PA Philadelphia; PHX US-AZ Phoenix
Sky Harbor, Sky Harbor; PKX CN Beijing Daxing, Daxing; PVG CN Shanghai Pudong, Pudong; SAN US-CA San
Diego; SEA US-WA Seattle Tacoma, Sea Tac; SFO US-CA San Francisco; SHA CN Shanghai Hongqiao, Hongqiao; SIN
SG Changi, Singapore Changi; SLC US-UT Salt Lake City; STN GB-ENG Stansted, London Stansted; SVO RU
Sheremetyevo, Moscow Sheremetyevo; SYD AU-NSW Sydney, Sydney Kingsford Smith, Kingsford Smith; SZX CN
Shenzhen Baoan; TPE TW Taoyuan, Taiwan Taoyuan; VCE IT Venice Marco Polo, Marco Polo; VIE AT Vienna; YUL
CA-QC Montreal Trudeau, Montreal Pierre Elliott Trudeau; YVR CA-BC Vancouver; YYZ CA-ON Toronto Pearson,
Lester B Pearson, Toronto Lester B Pearson; ZRH CH Zurich
"""
"""With the names that go before "Airport" or "International Airport"."""


@dataclass(frozen=True, slots=True)
class Region:
    """Where a place lies: a country by its ISO 3166 code, and a state of it where that is known."""

    country: str
    state: str | None = None

    def holds(self, other: Region) -> bool:
        """Whether the other is the same or a part of this one."""
        return self.country == other.country and self.state in (None, other.state)


def fits(one: Region | None, other: Region | None) -> bool:
    """Whether two places can be one: neither is elsewhere, as far as is said."""
    return one is None or other is None or one.holds(other) or other.holds(one)


@dataclass(frozen=True, slots=True)
class Known:
    """A place of the table; ``name`` is the one by which it is compared."""

    name: Words
    region: Region


def _rows(text: str) -> Iterator[tuple[str, list[str]]]:
    for row in text.replace("\n", " ").split(";"):
        code, _, names = row.strip().partition(" ")
        yield code, [name.strip() for name in names.split(",")]


def _region(code: str) -> Region:
    country, _, state = code.partition("-")
    return Region(country, state or None)


@cache
def regions() -> Mapping[Words, tuple[Region, ...]]:
    """Countries and states by name; two bear the name Georgia."""
    found: dict[Words, tuple[Region, ...]] = {}
    for code, names in (*_rows(_STATES), *_rows(_COUNTRIES)):
        for name in names:
            found[words(name)] = (*found.get(words(name), ()), _region(code))
    return found


@cache
def region_codes() -> Mapping[str, tuple[Region, ...]]:
    """By code, the most usual meaning first: a state of the USA, a country, a state of another country."""
    states = [_region(code) for code, _ in _rows(_STATES)]
    countries = [_region(code) for code, _ in _rows(_COUNTRIES)]
    ordered = [region for region in states if region.country == "US"] + countries + states
    found: dict[str, tuple[Region, ...]] = {"UK": (Region("GB"),)}
    for region in dict.fromkeys(ordered):
        code = region.state or region.country
        found[code] = (*found.get(code, ()), region)
    return found


@cache
def cities() -> Mapping[Words, Known]:
    """Well-known cities by any of their names."""
    return {
        words(name): Known(words(names[0]), _region(code)) for code, names in _rows(_CITIES) for name in names
    }


@cache
def airports() -> Mapping[frozenset[str], Known]:
    """Airports by the words of any of their names, without "international" and "airport"."""
    return {frozenset(words(name)): known for known, names in _airports() for name in names}


@cache
def airport_codes() -> Mapping[str, Known]:
    """Airports by their IATA code."""
    return {known.name[-1]: known for known, _ in _airports()}


def _airports() -> Iterator[tuple[Known, list[str]]]:
    for code, (first, *names) in _rows(_AIRPORTS):
        region, _, name = first.partition(" ")
        yield Known(("airport", code), _region(region)), [name, *names]

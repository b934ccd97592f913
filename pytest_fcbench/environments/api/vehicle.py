"""Vehicle: the controls of a car and the questions of its driver."""

# The names of functions, parameters and attributes are those of the benchmark.
# ruff: noqa: N802, N803

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from random import Random
from typing import Any, Literal

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.environments.environment import Environment

_TANK = 50
"""Gallons."""
_MILES_PER_GALLON = 20.0
_FULL_BRAKE = 1000.0
"""Newtons on the pedal, which are needed to start the engine."""
_PARKING_BRAKE = 500.0
"""Newtons."""
_SLOPE = 10.0
"""Degrees: the slope that is reported after any use of the parking brake."""
_DOORS = 4
_TIRES = ("frontLeftTirePressure", "frontRightTirePressure", "rearLeftTirePressure", "rearRightTirePressure")
_NO_ZIP_CODE = "00000"


class Vehicle(Environment):
    """A car with engine, fuel, doors, air conditioning, lights, brakes, cruise control and navigation."""

    _domain = "vehicle"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        self.long_context = long_context
        defaults = self._world.defaults[self._domain]

        def get_start(attribute: str, key: str = "") -> Any:
            return state.get(key or attribute, defaults[attribute])

        self.fuelLevel: float = get_start("fuelLevel")
        self.batteryVoltage: float = get_start("batteryVoltage")
        self.engine_state: str = get_start("engine_state", "engineState")
        # Before the doors themselves, as in the official class: score files show attributes in order.
        doors: dict[str, str] = get_start("doorStatus")
        self.remainingUnlockedDoors = _DOORS - list(doors.values()).count("locked")
        self.doorStatus = doors
        self.acTemperature: float = get_start("acTemperature")
        self.fanSpeed: int = get_start("fanSpeed")
        self.acMode: str = get_start("acMode")
        self.humidityLevel: float = get_start("humidityLevel")
        self.headLightStatus: str = get_start("headLightStatus")
        self.parkingBrakeStatus: str = get_start("parkingBrakeStatus")
        self.brakePedalStatus: str = get_start("brakePedalStatus")
        self.distanceToNextVehicle: float = get_start("distanceToNextVehicle")
        self.cruiseStatus: str = get_start("cruiseStatus")
        self.destination: str = get_start("destination")
        self.frontLeftTirePressure: float = get_start("frontLeftTirePressure")
        self.frontRightTirePressure: float = get_start("frontRightTirePressure")
        self.rearLeftTirePressure: float = get_start("rearLeftTirePressure")
        self.rearRightTirePressure: float = get_start("rearRightTirePressure")
        # Private in the official class as well, so its checker does not see them.
        self._parking_brake_force: float = get_start("_parkingBrakeForce", "parkingBrakeForce")
        self._slope_angle: float = get_start("_slopeAngle", "slopeAngle")
        self._brake_pedal_force: float = get_start("brakePedalForce")
        seed = get_start("random_seed")
        # Officially a seed of null draws from the entropy of the system; here it is a seed like any other.
        self._random = Random(0 if seed is None else seed)  # noqa: S311 - the draws of the benchmark

    def get_hidden_state(self) -> Mapping[str, object]:
        return {
            "brakePedalForce": self._brake_pedal_force,
            "parkingBrakeForce": self._parking_brake_force,
            "slopeAngle": self._slope_angle,
        }

    def startEngine(self, ignitionMode: Literal["START", "STOP"]) -> dict[str, object]:
        """Start or stop the engine. To start it, all doors must be locked and the brake pedal fully pressed.

        Args:
            ignitionMode: ``START`` or ``STOP``.

        Returns:
            ``engineState``, ``fuelLevel`` in gallons and ``batteryVoltage``.
        """
        # Official: STOP does stop the engine, but the conditions for a start are checked all the same, and
        # in the end STOP is no valid mode, so it always answers with an error.
        if ignitionMode == "STOP":
            self.engine_state = "stopped"
        if self.remainingUnlockedDoors > 0:
            unlocked_doors = [door for door, status in self.doorStatus.items() if status == "unlocked"]
            sentence = self._write_text("Lock all doors before the start; unlocked: ", "startEngine", 0)
            return {"error": sentence + ", ".join(unlocked_doors)}
        if self.brakePedalStatus != "pressed":
            return self._make_error("Press the brake pedal to start the engine.", "startEngine", 2)
        if self._brake_pedal_force != _FULL_BRAKE:
            ours = f"Press the brake pedal fully, with {_FULL_BRAKE} N, to start the engine."
            return self._make_error(ours, "startEngine", 3)
        if self.fuelLevel < 0:
            return self._make_error("There is no fuel to start the engine with.", "startEngine", 4)
        if ignitionMode != "START":
            return self._make_error("Only START starts the engine.", "startEngine", 5)
        self.engine_state = "running"
        return {
            "engineState": self.engine_state,
            "fuelLevel": self.fuelLevel,
            "batteryVoltage": self.batteryVoltage,
        }

    def fillFuelTank(self, fuelAmount: float) -> dict[str, object]:
        """Add fuel to the tank, which holds 50 gallons.

        Args:
            fuelAmount: Gallons to add to what is in the tank.

        Returns:
            ``fuelLevel``: gallons in the tank afterwards.
        """
        if fuelAmount < 0:
            return self._make_error("Fuel cannot be taken out of the tank.", "fillFuelTank", 0)
        level = self.fuelLevel + fuelAmount
        if level > _TANK:
            return self._make_error(f"The tank holds no more than {_TANK} gallons.", "fillFuelTank", 1)
        if level < 0:
            ours = "That is too little: the tank would still be below zero."
            return self._make_error(ours, "fillFuelTank", 2)
        self.fuelLevel = level
        return {"fuelLevel": self.fuelLevel}

    def lockDoors(self, unlock: bool, door: list[str]) -> dict[str, object]:
        """Lock or unlock doors.

        Args:
            unlock: True to unlock, false to lock.
            door: The doors: any of ``driver``, ``passenger``, ``rear_left`` and ``rear_right``.

        Returns:
            ``lockStatus`` of these doors and ``remainingUnlockedDoors``, the number of unlocked ones.
        """
        status = "unlocked" if unlock else "locked"
        for name in door:
            if self.doorStatus[name] != status:
                self.doorStatus[name] = status
                self.remainingUnlockedDoors += 1 if unlock else -1
        return {"lockStatus": status, "remainingUnlockedDoors": self.remainingUnlockedDoors}

    def adjustClimateControl(
        self,
        temperature: float,
        unit: Literal["celsius", "fahrenheit"] = "celsius",
        fanSpeed: int = 50,
        mode: Literal["auto", "cool", "heat", "defrost"] = "auto",
    ) -> dict[str, object]:
        """Set the air conditioning.

        Args:
            temperature: The temperature to reach.
            unit: Unit of the temperature.
            fanSpeed: Speed of the fan, from 0 to 100.
            mode: What the air conditioning does.

        Returns:
            ``currentACTemperature``, ``climateMode`` and ``humidityLevel``.
        """
        if not 0 <= fanSpeed <= 100:
            return self._make_error("The fan goes from 0 to 100.", "adjustClimateControl", 0)
        self.acTemperature = temperature
        if unit == "fahrenheit":
            self.acTemperature = (temperature - 32) * 5 / 9
        self.fanSpeed = fanSpeed
        self.acMode = mode
        # Official: the temperature comes back as it was given, whatever its unit.
        return {"currentACTemperature": temperature, "climateMode": mode, "humidityLevel": self.humidityLevel}

    def get_outside_temperature_from_google(self) -> dict[str, object]:
        """Ask Google for the temperature outside.

        Returns:
            ``outsideTemperature`` in degrees Celsius.
        """
        weather = deepcopy(dict(self._world.filler.weather)) if self.long_context else {}
        return {**weather, "outsideTemperature": self._random.uniform(-10, 40)}

    def get_outside_temperature_from_weather_com(self) -> dict[str, object]:
        """Ask weather.com for the temperature outside.

        Returns:
            ``outsideTemperature`` in degrees Celsius.
        """
        # The official site is never there.
        return {"error": 404}

    def setHeadlights(self, mode: Literal["on", "off", "auto"]) -> dict[str, object]:
        """Switch the headlights.

        Args:
            mode: ``on``, ``off`` or ``auto``.

        Returns:
            ``headlightStatus``: ``on`` or ``off``.
        """
        if mode not in ("on", "off", "auto"):
            return self._make_error("Headlights can be on, off or auto.", "setHeadlights", 0)
        self.headLightStatus = "on" if mode == "on" else "off"
        return {"headlightStatus": self.headLightStatus}

    def displayCarStatus(
        self,
        option: Literal[
            "fuel", "battery", "doors", "climate", "headlights", "parkingBrake", "brakePedal", "engine"
        ],
    ) -> dict[str, object]:
        """Show the state of one part of the car.

        Args:
            option: The part.

        Returns:
            The values of that part by name.
        """
        displays: Mapping[str, Mapping[str, object]] = {
            "fuel": {"fuelLevel": self.fuelLevel},
            "battery": {"batteryVoltage": self.batteryVoltage},
            "doors": {"doorStatus": self.doorStatus},
            "climate": {
                "currentACTemperature": self.acTemperature,
                "fanSpeed": self.fanSpeed,
                "climateMode": self.acMode,
                "humidityLevel": self.humidityLevel,
            },
            "headlights": {"headlightStatus": self.headLightStatus},
            "parkingBrake": {
                "parkingBrakeStatus": self.parkingBrakeStatus,
                "parkingBrakeForce": self._parking_brake_force,
                "slopeAngle": self._slope_angle,
            },
            "brakePedal": {
                "brakePedalStatus": self.brakePedalStatus,
                "brakePedalForce": self._brake_pedal_force,
            },
            "engine": {"engineState": self.engine_state},
        }
        more = {"metadata": self._world.filler.car_status} if self.long_context else {}
        # In a list, because a model may give what cannot be hashed.
        if option not in list(displays):
            ours = "The car has no display for that."
            return {**more, **self._make_error(ours, "displayCarStatus", 0)}
        return {**more, **displays[option]}

    def activateParkingBrake(self, mode: Literal["engage", "release"]) -> dict[str, object]:
        """Engage or release the parking brake.

        Args:
            mode: ``engage`` or ``release``.

        Returns:
            ``parkingBrakeStatus``, ``_parkingBrakeForce`` in newtons and ``_slopeAngle`` in degrees.
        """
        if mode not in ("engage", "release"):
            ours = "The parking brake can only be engaged or released."
            return self._make_error(ours, "activateParkingBrake", 0)
        is_engaged = mode == "engage"
        self.parkingBrakeStatus = "engaged" if is_engaged else "released"
        self._parking_brake_force = _PARKING_BRAKE if is_engaged else 0.0
        self._slope_angle = _SLOPE
        manual = {"parkingBrakeInstruction": self._world.filler.parking_brake} if self.long_context else {}
        return {
            **manual,
            "parkingBrakeStatus": self.parkingBrakeStatus,
            "_parkingBrakeForce": self._parking_brake_force,
            "_slopeAngle": self._slope_angle,
        }

    def pressBrakePedal(self, pedalPosition: float) -> dict[str, object]:
        """Press the brake pedal and keep it there until it is released.

        Args:
            pedalPosition: How far, from 0 (not at all) to 1 (fully).

        Returns:
            ``brakePedalStatus`` and ``brakePedalForce`` in newtons.
        """
        if not 0 <= pedalPosition <= 1:
            return self._make_error("The pedal goes from 0 to 1.", "pressBrakePedal", 0)
        if pedalPosition == 0:
            return self.releaseBrakePedal()
        self.brakePedalStatus = "pressed"
        # Kept as a whole number for a whole one, and so displayed, but a float in the answer: official.
        self._brake_pedal_force = 1000 * pedalPosition
        return {"brakePedalStatus": self.brakePedalStatus, "brakePedalForce": float(self._brake_pedal_force)}

    def releaseBrakePedal(self) -> dict[str, object]:
        """Take the foot off the brake pedal.

        Returns:
            ``brakePedalStatus`` and ``brakePedalForce`` in newtons.
        """
        self.brakePedalStatus = "released"
        self._brake_pedal_force = 0.0
        return {"brakePedalStatus": self.brakePedalStatus, "brakePedalForce": self._brake_pedal_force}

    def setCruiseControl(
        self, speed: float, activate: bool, distanceToNextVehicle: float
    ) -> dict[str, object]:
        """Switch the cruise control on or off. The engine must be running.

        Args:
            speed: Speed in miles per hour: a multiple of 5, from 0 to 120.
            activate: True to switch on, false to switch off.
            distanceToNextVehicle: Meters to keep to the vehicle in front.

        Returns:
            ``cruiseStatus``, ``currentSpeed`` and ``distanceToNextVehicle``.
        """
        distance, pace = float(distanceToNextVehicle), float(speed)
        if self.engine_state == "stopped":
            ours = "Start the engine first: cruise control needs it running."
            return self._make_error(ours, "setCruiseControl", 0)
        # Official: the distance is kept even if the speed is refused.
        self.distanceToNextVehicle = distance
        if activate and (not 0 <= pace <= 120 or pace % 5 != 0):
            ours = "The speed must be a multiple of 5 from 0 to 120."
            return self._make_error(ours, "setCruiseControl", 1)
        self.cruiseStatus = "active" if activate else "inactive"
        return {
            "cruiseStatus": self.cruiseStatus,
            "currentSpeed": pace,
            "distanceToNextVehicle": self.distanceToNextVehicle,
        }

    def get_current_speed(self) -> dict[str, float]:
        """Read the speedometer.

        Returns:
            ``currentSpeed`` in km/h.
        """
        return {"currentSpeed": self._random.uniform(0, 120)}

    def display_log(self, messages: list[str]) -> dict[str, list[str]]:
        """Show messages on the display.

        Args:
            messages: The messages.

        Returns:
            ``log``: the messages that are shown.
        """
        return {"log": messages}

    def estimate_drive_feasibility_by_mileage(self, distance: float) -> dict[str, bool]:
        """Estimate whether the fuel in the tank is enough for a distance.

        Args:
            distance: Miles to drive.

        Returns:
            ``canDrive``: whether it is enough.
        """
        too_far = self.fuelLevel * _MILES_PER_GALLON < distance
        return {"canDrive": not too_far}

    def liter_to_gallon(self, liter: float) -> dict[str, float]:
        """Convert liters to gallons.

        Args:
            liter: Number of liters.

        Returns:
            ``gallon``: the same in gallons.
        """
        return {"gallon": liter * 0.264172}

    def gallon_to_liter(self, gallon: float) -> dict[str, float]:
        """Convert gallons to liters.

        Args:
            gallon: Number of gallons.

        Returns:
            ``liter``: the same in liters.
        """
        return {"liter": gallon * 3.78541}

    def estimate_distance(self, cityA: str, cityB: str) -> dict[str, object]:
        """Estimate the distance between two cities.

        Args:
            cityA: Zip code of one city.
            cityB: Zip code of the other city.

        Returns:
            ``distance`` in km.
        """
        known_distances = (
            km for a, b, km in self._world.distances if (a, b) in ((cityA, cityB), (cityB, cityA))
        )
        km = next(known_distances, None)
        unknown = self._make_error("No distance is known between these cities.", "estimate_distance", 0)
        answer = unknown if km is None else {"distance": km}
        more = {"intermediaryCities": list(self._world.filler.cities)} if self.long_context else {}
        return {**answer, **more}

    def get_zipcode_based_on_city(self, city: str) -> dict[str, str]:
        """Look up the zip code of a city.

        Args:
            city: Name of the city.

        Returns:
            ``zipcode``: its zip code, ``00000`` if it is not known.
        """
        codes = (code for name, code in self._world.zip_codes.items() if name == city)
        return {"zipcode": next(codes, _NO_ZIP_CODE)}

    def set_navigation(self, destination: str) -> dict[str, str]:
        """Let the navigation lead to a destination.

        Args:
            destination: Street, city and state.

        Returns:
            ``status``: where the car is led to.
        """
        self.destination = destination
        return {"status": "Navigating to " + destination}

    def check_tire_pressure(self) -> dict[str, object]:
        """Measure the pressure of the tires.

        Returns:
            The pressure of each tire in psi, ``healthy_tire_pressure`` and ``car_info``.
        """
        pressures: dict[str, float] = {tire: getattr(self, tire) for tire in _TIRES}
        return {
            **pressures,
            # Official: the mean decides, so a flat tire beside a hard one is healthy.
            "healthy_tire_pressure": 30 <= add_in_order(pressures.values()) / len(_TIRES) <= 35,
            "car_info": self._world.filler.car_status if self.long_context else {},
        }

    def find_nearest_tire_shop(self) -> dict[str, str]:
        """Find the nearest shop for tires.

        Returns:
            ``shopLocation``: its address.
        """
        return {"shopLocation": self._world.tire_shop}
